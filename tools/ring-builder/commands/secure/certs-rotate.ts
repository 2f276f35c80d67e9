// ring-builder certs rotate: replaces bundles with new keys, and the authority in three steps:
// all trust A; then A and B; then B issues; then they trust B alone. No connection is refused
// if the steps are kept apart.
import { issueCertificate, namesOf } from '../../certs/certificate.ts';
import {
  authorityNameOf,
  authorityPath,
  type CertsFolder,
  newAuthority,
  openAuthority,
  openCerts,
  writeAuthorities,
  writeBundle,
} from '../../certs/certs-folder.ts';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { lifeDays, shortLife } from './certs-issue.ts';

/** Issues the same names with a new key. */
export async function rotateAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  const certs = await openCerts(args, context);
  if (names.length === 0) {
    const [one = 'NAME'] = certs.bundles.keys();
    throw usage(
      'name bundles from certs list, or authority for all',
      `ring-builder certs rotate ${one}`,
    );
  }
  const unknown = names.find((name) => !certs.bundles.has(name));
  if (unknown !== undefined) throw usage(`${certs.folder} has no bundle ${unknown}`);
  const files = await reissue(args, context, { certs, names });
  const [cert = ''] = certs.authorities;
  return {
    json: { bundles: files, changed: true },
    lines: [
      ...files.map((file, index) =>
        isOfClient(certs.bundles.get(names[index] ?? '') ?? '')
          ? `${file}: give it to its owner; the one before counts until it expires`
          : `${file}: copy it to its server and rename it into place; the server then reloads it`,
      ),
      shortLife({ cert }, args, context),
    ],
    next: context.next('certs list'),
  };
}

function isOfClient(cert: string): boolean {
  return namesOf(cert).some(({ type }) => type === 'url');
}

type Step = '1' | '2' | '3';

/** Servers started with `--client-ca` check clients by the same file. */
const everywhere = 'give it to every client, and to every server with --client-ca';

const afterStep: Readonly<Record<Step, string>> = {
  1: `step 1 of 3: ${everywhere}, before step 2, or they will refuse the new certificates`,
  2:
    'step 2 of 3: put each bundle on its server, and give client certificates to their owners, ' +
    'before step 3, or the old ones will be refused',
  3: `step 3 of 3: ${everywhere}; where it is, certificates of the old authority do not count`,
};

/** Each step may be repeated. A completed step is not done again. */
export async function rotateAuthorityAnswer(args: Arguments, context: Context): Promise<Answer> {
  const certs = await openCerts(args, context);
  if (certs.authorities.length === 0) await openAuthority(certs, context); // throws, with a hint
  const done = stepsDone(certs.authorities);
  const step = args.optionalText('step') as Step | undefined; // yargs knows the choices
  const isBegun = done > 0;
  if (step === undefined)
    throw usage(`${stepText(done)}: certs rotate authority --step ${done + 1}`);
  const isNext = Number(step) === done + 1;
  const isRepeated = isBegun ? Number(step) === done : step === '3';
  if (!isNext && !isRepeated) {
    throw usage(`${stepText(done)}, so --step ${step} is not the next`, `--step ${done + 1}`);
  }
  if (isNext) await carryOut(step, args, { context, certs });
  const path = authorityPath(certs.folder);
  const next = step === '3' ? 'certs list' : `certs rotate authority --step ${Number(step) + 1}`;
  return {
    json: { step: Number(step), authority: path, changed: isNext },
    lines: [`${path}, ${afterStep[step]}`],
    next: context.next(next),
  };
}

async function carryOut(
  step: Step,
  args: Arguments,
  { context, certs }: { readonly context: Context; readonly certs: CertsFolder },
): Promise<void> {
  const { folder, authorities, bundles } = certs;
  const [first = '', second = ''] = authorities;
  if (step === '1') {
    const { cert } = await newAuthority(numberOf(first) + 1, context);
    await writeAuthorities(folder, [first, cert]);
  } else if (step === '2') {
    const swapped = { ...certs, authorities: [second, first] };
    await reissue(args, context, { certs: swapped, names: [...bundles.keys()] });
    // Written last: if the run is stopped before, the whole step is repeated.
    await writeAuthorities(folder, swapped.authorities);
  } else {
    await writeAuthorities(folder, [first]);
  }
}

/** The issuing authority comes first in the file, so the order shows how far a rotation is. */
function stepsDone([first = '', second]: readonly string[]): 0 | 1 | 2 {
  if (second === undefined) return 0;
  return numberOf(first) < numberOf(second) ? 1 : 2;
}

function stepText(done: number): string {
  return done === 0 ? 'no rotation is in progress' : `step ${done} of 3 is done`;
}

function numberOf(cert: string): number {
  return Number(/^authority-(\d+)/.exec(authorityNameOf(cert))?.[1]);
}

async function reissue(
  args: Arguments,
  context: Context,
  { certs, names }: { readonly certs: CertsFolder; readonly names: readonly string[] },
): Promise<string[]> {
  const authority = await openAuthority(certs, context);
  const files: string[] = [];
  for (const name of names) {
    const cert = certs.bundles.get(name) ?? '';
    const nowMs = context.nowMs();
    const leaf = { name, names: namesOf(cert), days: lifeDays(args), nowMs };
    files.push(await writeBundle(certs.folder, name, await issueCertificate(authority, leaf)));
  }
  return files;
}
