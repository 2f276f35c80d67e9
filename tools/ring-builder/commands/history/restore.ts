// ring-builder restore: makes a ring's folder anew from a ring file, a server's copy, or the
// history in another folder of rings or in the store.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { quoteWord } from '@ringwright/base/quote-command';
import { exists } from '@ringwright/node/missing-file';
import { trustPath } from '@ringwright/repository/folder/trust-file';
import { openRing } from '@ringwright/repository/open-ring';
import { copyRing, type Restored, restoreRing } from '@ringwright/repository/restore-ring';
import { takeStored } from '@ringwright/repository/shared/pull-head';
import { readStoreFile } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { decodeRing, type RingFile } from '@ringwright/ring/file/ring-file';
import { usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { requireGain, requireMore } from './require-gain.ts';
import { type RestoreSource, restoreSource } from './restore-source.ts';

export const command: Command = {
  positionals: { ring: { describe: 'name of the ring; optional for a file' } },
  options: {
    from: textOption(
      'a .ring file, a server as IP:PORT, another folder of rings, or store (--store)',
      { demandOption: true },
    ),
    replace: flagOption('replace the ring that is here, which is kept in RINGS/.replaced'),
    trust: textOption('trust.json or the id of a root, whose keys must have signed the ring'),
  },
  about: `--replace is for a folder whose history lost: after a fork that was settled for the
other one, or if git or a store has another history. The replaced ring is kept as a folder
of rings, which log and show can read with --rings; stage again the changes you still need.`,
  examples: [
    ['$0 restore cities --from backup/0000007.ring', 'the builder and the version of that file'],
    ['$0 restore cities --from 10.0.0.1:6200', 'from a server where the ring is active'],
    [
      '$0 restore cities --from 10.0.0.1:6200 --trust ID',
      'also trust.json, if everything was lost',
    ],
    [
      '$0 restore cities --from 10.0.0.1:6200 --replace',
      'replace the ring here by that of the servers',
    ],
    ['$0 restore cities --from ../theirs/rings --replace', 'use their history, with its log'],
  ],
  run: async (args, context) => {
    const name = args.optionalText('ring');
    const from = args.text('from');
    const replace = args.flag('replace');
    const source = await restoreSource(context, from, { name, pin: args.optionalText('trust') });
    const placing = { author: authorOf(context), replace };
    if (source.kind !== 'file') {
      if (name === undefined) throw usage(`which ring? ring-builder restore RING --from ${from}`);
      return takeHistory(context, { ring: name, from, source, placing });
    }
    // If there is no trust.json here yet, the restore brings it along.
    const isPlain = source.trust === null || (await exists(trustPath(context.rings)));
    if (isPlain && !(await requireGain(context, source.bytes, { name, replace }))) {
      return hasThisHead(context, decodeRing(source.bytes), from);
    }
    const restored = await restoreRing(context.rings, {
      ...{ ...source, ...placing, name },
      message: `from ${from}`,
      command: context.command,
    });
    const { version } = restored.ring;
    const begins = `the log begins here: a ring file has no history before version ${version}`;
    return restoredAnswer(context, restored, {
      from,
      lines: [authenticity(restored, source.trust !== null), begins],
      unchecked:
        restored.signed && source.trust === null ? withTrust(restored, { ...source, from }) : null,
    });
  },
};

/** Answers that nothing is to be done: replacing the ring would lose its log for nothing. */
function hasThisHead(
  context: Context,
  { ring, id }: Pick<RingFile, 'ring' | 'id'>,
  from: string,
): Answer {
  const { keyspace, version, moves } = ring;
  const restored = { ring: keyspace, version, id, inFlight: moves.length, signers: [], from };
  return {
    json: { ...restored, kept: null, changed: false },
    lines: [
      `nothing to do: the folder has this head, version ${version} (${id.slice(0, 12)}), and its log`,
    ],
    next: context.next(`status ${keyspace}`),
  };
}

/** Takes a whole history with its log. Throws RING_UNKNOWN if the store has no such ring. */
async function takeHistory(
  context: Context,
  request: {
    readonly ring: string;
    readonly from: string;
    readonly source: Exclude<RestoreSource, { readonly kind: 'file' }>;
    readonly placing: Parameters<typeof takeStored>[1];
  },
): Promise<Answer> {
  const { ring, from, source, placing } = request;
  const place = { rings: context.rings, ring };
  if (source.kind === 'folder') {
    const same = placing.replace ? await requireMore(context, ring, source.from) : null;
    if (same !== null) return hasThisHead(context, same, from);
    const copied = await copyRing(place, { ...placing, from: source.from, trust: source.trust });
    const lines = [authenticity(copied, source.trust !== null)];
    return restoredAnswer(context, copied, { from, lines, unchecked: null });
  }
  // Like every command with --store, this one has already fetched a missing ring.
  const isHere = !placing.replace && (await isAsStored(place, placing.author));
  const outcome = isHere ? { kept: null } : await takeStored(place, placing);
  if (outcome === null) throw usage(`the store of ${context.rings} has no ring ${ring}`);
  const { kept } = outcome;
  const { head } = await openRing(context.rings, ring);
  return {
    json: { ring, version: head?.version, id: head?.id, from, kept, changed: !isHere },
    lines: [`${ring} is at version ${head?.version}, as in the store`, ...keptLines(ring, kept)],
    next: context.next(`status ${ring}`),
  };
}

/** Whether the ring here has caught up with its store. */
async function isAsStored(
  place: Parameters<typeof catchUp>[0],
  author: Parameters<typeof catchUp>[1],
): Promise<boolean> {
  if ((await readStoreFile(place.rings)) === null) return false;
  return !((await resultOrError(catchUp(place, author))) instanceof CodedError);
}

function restoredAnswer(
  context: Context,
  { ring, id, signers, kept }: Restored,
  outcome: {
    readonly from: string;
    readonly lines: readonly string[];
    /** The command that checks the signatures; null if they are checked or there are none. */
    readonly unchecked: string | null;
  },
): Answer {
  const { from, lines, unchecked } = outcome;
  const { keyspace, version, moves } = ring;
  const inFlight = moves.length;
  const first = unchecked ?? (kept === null ? `verify ${keyspace}` : `status ${keyspace}`);
  return {
    json: { ring: keyspace, version, id, inFlight, signers, from, kept, changed: true },
    lines: [
      `restored ${keyspace} at version ${version} (${id.slice(0, 12)}), with its builder`,
      ...lines,
      ...keptLines(keyspace, kept),
      inFlight > 0 && `${counted(inFlight, 'move is', 'moves are')} in flight: rollout continues`,
    ],
    next: context.next(first),
  };
}

/** Only a server that runs with --trust can send the trust document of a root id. */
function withTrust(
  { ring: { keyspace } }: Restored,
  { from, offersTrust }: { readonly from: string; readonly offersTrust: boolean },
): string {
  const trust = offersTrust ? 'ID' : 'TRUST.JSON';
  return `restore ${keyspace} --from ${quoteWord(from)} --replace --trust ${trust}`;
}

/** The replaced ring is kept whole, as a folder of rings. */
function keptLines(ring: string, kept: string | null): string[] {
  if (kept === null) return [];
  const option = `--rings ${quoteWord(kept)}`;
  return [
    `the ring that was here is kept, with its log and staged changes: ${kept}`,
    `to see its changes, and stage again those you still need: ring-builder log ${ring} ${option}`,
  ];
}

function authenticity({ signed, signers }: Restored, isChecked: boolean): string {
  if (isChecked) return `signed by ${signers.join(', ')}, as the root requires`;
  return signed
    ? 'signatures NOT CHECKED: no trust.json is here. Name the root of the cluster with --trust: ' +
        'a copy of trust.json or, with a server, the id of the root'
    : 'UNSIGNED: anyone who can write the file, or answer for the server, can have forged it';
}
