// Pushes a version to servers of a ring and records it in the log, for push and rollout.
import { noteVersion } from '@ringwright/repository/append-log';
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

/** Pushes a version. The log notes the first acceptance, and the acceptance by all servers. */
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
  const servers = await pushToTargets(version, targets, { ...how, deltaFrom, documents });
  const count = before + accepted(servers).length;
  const head = { version: version.ring.version, id: version.id };
  const place = { rings: context.rings, ring: keyspace };
  const notes = (await readLog(context.rings, keyspace)).filter(
    (entry) => entry.kind === 'push' && entry.id === version.id,
  );
  const isFirst = count > 0 && notes.length === 0;
  const isLast = count === all && !notes.some(({ details }) => details['accepted'] === all);
  if (count > 0 && (isFirst || isLast)) {
    const details = { accepted: count, servers: all };
    const note = { message: '', details, commands: [] };
    await noteVersion(place, head, { ...authorOf(context), ...note, kind: 'push' });
  }
  return servers;
}
