// ring-builder verify: audits a ring's whole folder; with --optimal, proves one version.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { MIB } from '@ringwright/base/limits';
import type { Component } from '@ringwright/builder/state/builder-state';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import {
  type Verification,
  verifyRepository,
} from '@ringwright/repository/verify/verify-repository';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  type Lines,
  textOption,
} from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { knownRootOf } from '../../versions/known-root.ts';
import { versionOf } from '../../versions/version-reference.ts';
import { type OptimalityCheck, verifyOptimal } from './verify-optimal.ts';

type Receipts = Verification['receipts'];

/** From this size on, reading and auditing the versions takes a second, and is announced. */
const bytesAnnouncedMin = 20 * MIB;

export const command: Command = {
  positionals: { version: { describe: 'with --optimal: 7, @~1 or the start of an id' } },
  options: {
    trust: textOption('id of a root that trust.json must contain, from a trusted source'),
    optimal: flagOption(
      'prove that no ring with the same guarantees can be reached with fewer moves',
    ),
  },
  examples: [
    ['$0 verify cities', 'exit code 1 if there are findings'],
    ['$0 verify cities --optimal', 'the proof for the head; exit code 1 if there is none'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const reference = args.optionalText('version');
    if (args.flag('optimal') || reference !== undefined) {
      return optimality(context, ring, reference);
    }
    const pin = args.optionalText('trust') ?? (await knownRootOf(context));
    await announceLong(context, ring);
    const found = await verifyRepository(context.rings, ring, pin);
    const { versions, pruned, entries, findings, signed, waiting, accessMissing } = found;
    const sound = findings.length === 0;
    const log = await resultOrError(readLog(context.rings, ring));
    const logged = counted(entries, 'log entry', 'log entries');
    const parts = `${counted(versions - pruned, 'version')}, ${logged} and builder.json of ${ring}`;
    const documents = accessMissing === null ? 'trust.json' : 'trust.json and access.json';
    const checked = signed ? `${parts}, and ${documents}` : parts;
    return {
      json: { ...found, ok: sound },
      lines: [
        ...findings.map(({ code, message }) => `${code}: ${message}`),
        !signed && 'unsigned: anyone who can write to the folder can forge the history',
        ...receiptLines(found.receipts),
        !found.digested &&
          'builder.json has no digest yet: an edit of staged changes would go unnoticed',
        pruned > 0 && `${counted(pruned, 'pruned version')}: only the log describes them`,
        ...found.outside.map((name) => `${name} cannot be verified`),
        waiting > 0 && `the head needs ${counted(waiting, 'more signature')}`,
        accessMissing !== null &&
          accessMissing > 0 &&
          `access.json needs ${counted(accessMissing, 'more signature')} before servers get it; ` +
            'ring-builder access list shows what it grants',
        sound ? `${checked} are sound` : `${counted(findings.length, 'finding')} in ${checked}`,
        ...waysBack(ring, found),
      ],
      next: context.next(nextCommand(ring, { sound, isReadable: !(log instanceof CodedError) })),
      exit: sound ? 0 : 1,
    };
  },
};

async function announceLong({ rings, tell }: Context, ring: string): Promise<void> {
  const { versions } = ringFolder(rings, ring);
  const names = (await readdir(versions).catch(nullIfMissing)) ?? [];
  let bytes = 0;
  for (const name of names) bytes += (await stat(path.join(versions, name))).size;
  if (bytes >= bytesAnnouncedMin) tell(`verifying the versions of ${ring}, ${printBytes(bytes)} …`);
}

function nextCommand(
  ring: string,
  { sound, isReadable }: { readonly sound: boolean; readonly isReadable: boolean },
): string {
  if (sound) return `status ${ring}`;
  return isReadable ? `log ${ring}` : 'list';
}

function receiptLines({ moves, receipts, forced, bytes, absent }: Receipts): Lines {
  if (moves === 0) return [];
  const whose = counted(moves, 'finalized move');
  const sum = `${counted(receipts, 'receipt')} of ${whose}, ${printBytes(bytes)} copied`;
  return [
    forced === 0 ? sum : `${sum}, ${forced} of them forced`,
    absent !== 0 && `receipts of ${counted(absent, 'version')} are missing from this copy`,
  ];
}

async function optimality(context: Context, ring: string, reference?: string): Promise<Answer> {
  const version = versionOf(ring, await readLog(context.rings, ring), reference);
  const { components } = stateOf(await readVersion(context.rings, ring, version));
  if (components !== undefined) return composedAnswer(context, { ring, version, components });
  const check = await verifyOptimal(context.rings, ring, { version, nowMs: context.nowMs });
  const { certificate, ...figures } = check;
  const { optimal, moves, pinned, faults, passes, cycle, potentials } = certificate;
  const held = Array.from(potentials).filter((potential) => potential !== 0).length;
  return {
    json: {
      ...{ ring, ...figures, ok: optimal, moves, pinned, faults, passes, cycle },
      potentials: [...potentials],
    },
    lines: [
      ...faults.map((fault) => `${fault.code}: ${fault.message}`),
      ...verdict(ring, check),
      optimal &&
        `potentials converged in ${counted(passes, 'pass', 'passes')}, ${held} of them below 0`,
    ],
    next: context.next(optimal ? `status ${ring}` : `plan ${ring}`),
    exit: optimal ? 0 : 1,
  };
}

/** The slots of a composite ring are placed only by its components, each with its own proof. */
function composedAnswer(
  context: Context,
  {
    ring,
    version,
    components,
  }: { readonly ring: string; readonly version: number; readonly components: readonly Component[] },
): Answer {
  const proofs = components.map((one) => `verify ${one.ring} --optimal ${one.version}`);
  const [first = `status ${ring}`] = proofs;
  return {
    json: {
      ...{ ring, version, ok: null },
      components: components.map(({ devices: _devices, ...of }) => of),
    },
    lines: [
      `${ring} version ${version} is composed: it is as optimal as its components`,
      ...proofs.map((proof) => `to prove one of them: ${context.next(proof)}`),
    ],
    next: context.next(first),
    exit: 0,
  };
}

function verdict(
  ring: string,
  { version, certificate, swapMoves, moved, movesLeft }: OptimalityCheck,
): string[] {
  const { optimal, faults, cycle, pinned } = certificate;
  const left = movesLeft === 0 ? '' : ` and ${movesLeft} left for later versions`;
  const changeText = version === 1 ? 'places every slot' : `moves ${counted(moved, 'slot')}${left}`;
  const swaps = swapMoves === 0 ? '' : `, except ${swapMoves} made to even out bytes`;
  if (optimal) {
    return [
      `${ring} version ${version} ${changeText}: every device and tier is at the floor or ceiling of its share,`,
      `every partition within its bounds${pinned ? ', both as close as pins permit' : ''}, ` +
        `and no such ring can be reached with fewer moves${swaps}`,
    ];
  }
  if (faults.length > 0)
    return [`${ring} version ${version} breaks ${counted(faults.length, 'guarantee')}`];
  const devices = cycle.map((id) => `d${id}`).join(' → ');
  return [
    `${ring} version ${version} ${changeText}, which is not the fewest: an exchange along ${devices} saves one`,
  ];
}

/** Returns one sentence for each kind of finding. */
export function waysBack(
  ring: string,
  { findings, signed }: { readonly findings: readonly Finding[]; readonly signed: boolean },
): Lines {
  const half = findings.filter(
    ({ code, details }) => code === 'BUILDER_BEHIND' || details?.['leftover'] === true,
  );
  const rootless = findings.filter(({ code }) => code === 'VERSION_ROOT_UNKNOWN');
  const isDamaged = half.length + rootless.length < findings.length;
  return [
    // While the log or builder.json is damaged, no commit is accepted.
    half.length > 0 && !isDamaged && commitEnds(ring),
    rootless.length > 0 && rootText(ring, signed),
    isDamaged && copies(ring),
  ];
}

function commitEnds(ring: string): string {
  return (
    `a commit was interrupted, as by a full disk: ring-builder commit ${ring} -m REASON, or what ` +
    'you typed then, cleans up and repeats it'
  );
}

function rootText(ring: string, signed: boolean): string {
  const restoreHint =
    'the root that signed is missing: restore trust.json from git, a copy, or what servers are ' +
    `started with (--trust); or ring-builder restore ${ring} --from IP:PORT --trust ID --replace ` +
    'takes it from a server that has it, if ID is the root named above and you trust it';
  const newRootHint =
    '; if nobody has it, ring-builder key generate creates a new root for future versions';
  return signed ? restoreHint : `${restoreHint}${newRootHint}`;
}

/** If the folder is in git, git shows who changed a file. */
function copies(ring: string): string {
  const command = `ring-builder restore ${ring} --from IP:PORT --replace`;
  return (
    `if the folder is in git, git log -p shows what was changed; ${command} takes over what a ` +
    'server has, and keeps this folder'
  );
}
