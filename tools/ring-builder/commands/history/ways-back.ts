// Says what helps against the findings of `verify`, by their codes. Pure.
import type { Finding } from '@ringwright/base/finding';

/** Returns one sentence for each kind of finding. */
export function waysBack(
  ring: string,
  { findings, signed }: { readonly findings: readonly Finding[]; readonly signed: boolean },
): string[] {
  const half = findings.filter(isHalfDone);
  const rootless = findings.filter(({ code }) => code === 'VERSION_ROOT_UNKNOWN');
  const isDamaged = half.length + rootless.length < findings.length;
  return [
    // While the log or builder.json is damaged, no commit is accepted.
    ...(half.length > 0 && !isDamaged ? [commitEnds(ring)] : []),
    ...(rootless.length > 0 ? [rootText(ring, signed)] : []),
    ...(isDamaged ? [copies(ring)] : []),
  ];
}

function isHalfDone({ code, details }: Finding): boolean {
  return code === 'BUILDER_BEHIND' || details?.['leftover'] === true;
}

function commitEnds(ring: string): string {
  return (
    `a commit did not end, as on a full disk: ring-builder commit ${ring} -m REASON, or whatever ` +
    'was typed then, tidies up and does it again'
  );
}

function rootText(ring: string, signed: boolean): string {
  const back =
    'the root that signed is missing: put trust.json back from git, a copy, or what servers are ' +
    `started with (--trust); or ring-builder restore ${ring} --from IP:PORT --trust ID --replace ` +
    'takes it from a server that has it, where ID is the root named above and you know it';
  const anew =
    '; where nobody has it, ring-builder key generate makes a new root, for versions to come';
  return signed ? back : `${back}${anew}`;
}

/** If the folder is in git, git shows who changed a file. */
function copies(ring: string): string {
  const command = `ring-builder restore ${ring} --from IP:PORT --replace`;
  return (
    `git log -p shows what was changed, where the folder is in git; ${command} takes what a ` +
    'server has, and keeps this folder aside'
  );
}
