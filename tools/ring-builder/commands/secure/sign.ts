// ring-builder sign: adds a signature to a version that waits for it, or after a rotation of keys.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { requireRingKey } from '@ringwright/repository/encode-version';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { stagedChangesOf } from '@ringwright/repository/folder/staged-section';
import { requireTrust } from '@ringwright/repository/folder/trust-file';
import { signVersion } from '@ringwright/repository/sign-version';
import { diffRings } from '@ringwright/ring/diff-rings';
import type { Command, Context, Lines } from '../../cli/command.ts';
import { ringKey } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { versionOf, versionPositional } from '../../versions/version-reference.ts';
import { madeLines } from '../../versions/version-story.ts';
import { printDevices } from '../history/diff.ts';

export const command: Command = {
  positionals: versionPositional,
  examples: [
    ['$0 sign cities', 'the second signature of a large change, with the only ring key here'],
    ['$0 sign cities 7 --sign-as bob', 'with another one of the keys here'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const entries = await readLog(context.rings, ring);
    const version = versionOf(ring, entries, args.optionalText('version'));
    const versionEntry = entries.find((entry) => makesVersion(entry) && entry.version === version);
    const { trust } = await requireTrust(context.rings);
    const key = requireRingKey(trust, await ringKey(context));
    const place = { rings: context.rings, ring };
    const signed = await signVersion(place, authorOf(context), { version, key });
    const { id, signers, needed, missing, changed } = signed;
    const doneText = changed ? 'signed' : 'was already signed by this key';
    const left = missing === 0 ? 'it can be pushed' : `${missing} more needed`;
    return {
      json: { ring, version, id, signers, needed, missing, changed },
      lines: [
        ...(await storyOf(context, ring, versionEntry)),
        `version ${version} of ${ring} ${doneText}: ${signers.join(', ')}; ${left}`,
      ],
      quotes: true,
      next: context.next(missing === 0 ? `push ${ring}` : `sign ${ring} ${version}`),
    };
  },
};

/** Describes what the signature approves. */
async function storyOf(
  { rings }: Context,
  ring: string,
  entry: LogEntry | undefined,
): Promise<Lines> {
  if (entry === undefined) return [];
  const version = await readVersion(rings, ring, entry.version);
  const { state, extraSections } = version;
  const lines = madeLines(entry, { staged: stagedChangesOf(extraSections), state });
  const before = await resultOrError(readVersion(rings, ring, Math.max(1, entry.version - 1)));
  // It is the first version, or the previous one was pruned.
  if (before instanceof CodedError || before.id === version.id) return lines;
  return [...lines, ...changedLines(before, version)];
}

/** Lists what the version changes on servers; its message is only a claim of its author. */
function changedLines(before: StoredVersion, after: StoredVersion): string[] {
  const diff = diffRings(before.ring, after.ring);
  const moves = `${counted(diff.movesStarted, 'move')} begun`;
  const moved = `${counted(diff.moved.length, 'slot')} moved, ${moves}`;
  return [`against version ${before.ring.version}: ${moved}`, ...printDevices(diff)];
}
