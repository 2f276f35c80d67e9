// Pushes a version to servers of a ring and records it in the log, for push and rollout.
import { CodedError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { noteVersion } from '@ringwright/repository/append-log';
import { reachesServers } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../../cli/command.ts';
import {
  accepted,
  deltasTo,
  type PushOutcome,
  type PushWith,
  pushToTargets,
} from '../../servers/push-to-targets.ts';
import type { Target } from '../../servers/ring-targets.ts';
import { requireOwnLine } from '../../versions/other-line.ts';
import { trustToGive } from '../../versions/sign-beacon.ts';
import { requirePushable } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';

interface PushStep extends Pick<PushWith, 'keepGoing' | 'tell'> {
  readonly targets: readonly Target[];
  /** Servers of all steps, and those that accepted in earlier steps. Default: this step only. */
  readonly all?: number;
  readonly before?: number;
}

/**
 * Pushes a version. The log notes the first acceptance, and the acceptance by all servers. If no
 * server had the ring before, the first acceptance is noted at once: a push waits for servers that
 * are down, and a ring that is used would otherwise count as never pushed if it ends there.
 */
export async function pushAndNote(
  context: Context,
  version: StoredVersion,
  { targets, all = targets.length, before = 0, ...how }: PushStep,
): Promise<PushOutcome[]> {
  const { keyspace } = version.ring;
  await requirePushable(context, version);
  const documents = () => trustToGive(context, version);
  const deltas = deltasTo(context.rings, version);
  const entries = await readLog(context.rings, keyspace);
  const deltaFrom: PushWith['deltaFrom'] = async (base, address) => {
    await requireOwnLine(version, entries, { ...base, address });
    return deltas(base);
  };
  const isNew = !entries.some(reachesServers);
  let early: Promise<void> | undefined;
  const noteOne = () => (early ??= notePush(context, version, { accepted: 1, servers: all }));
  const settings = { ...how, deltaFrom, documents, ...(isNew && { onAccepted: noteOne }) };
  const servers = await pushToTargets(version, targets, settings);
  const count = before + accepted(servers).length;
  const notes = (await readLog(context.rings, keyspace)).filter(
    (entry) => entry.kind === 'push' && entry.id === version.id,
  );
  const isFirst = notes.length === 0 || (early !== undefined && count > 1);
  const isLast = count === all && !notes.some(({ details }) => details['accepted'] === all);
  if (count > 0 && (isFirst || isLast)) {
    await notePush(context, version, { accepted: count, servers: all });
  }
  return servers;
}

async function notePush(
  context: Context,
  { ring: { keyspace, version }, id }: StoredVersion,
  details: { readonly accepted: number; readonly servers: number },
): Promise<void> {
  const place = { rings: context.rings, ring: keyspace };
  const note = { ...authorOf(context), message: '', details, commands: [] };
  try {
    await noteVersion(place, { version, id }, { ...note, kind: 'push' });
  } catch (error) {
    const { code, message, hint } = codedOrDisk(error);
    const taken = `servers have version ${version} of ${keyspace} now, but its log does not say so`;
    throw new CodedError(code, `${taken}: ${message}`, {
      hint: `${hint}; then: ring-builder push ${keyspace}`,
      cause: error,
    });
  }
}
