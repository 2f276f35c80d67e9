// The end of a removal: removed devices whose servers hold nothing any more become holes.
// Not by the commit that removes, nor when the last move is finalized: a server that the ring does
// not name has no duties, so it would neither serve as a source nor give up its files. Hence the
// hole is made when all removed servers have drained, or cannot be reached: then they are gone.
import { must } from '@ringwright/base/assert';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { commitVersion } from '@ringwright/repository/commit-version';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import type { Context } from '../../cli/verb.ts';
import { ringKey } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-verb.ts';

/** Commits a version that changes only devices; false when no device is to go. */
export async function dropGoneDevices(context: Context, head: StoredVersion): Promise<boolean> {
  const before = must(head.state, `version ${head.ring.version} carries the builder`);
  const state = dropEmptyDevices(before, head.ring);
  const gone = before.devices.filter((device, id) => device !== null && state.devices[id] === null);
  if (gone.length === 0) return false;
  const names = gone.map((device) => `d${device?.id}`).join(', ');
  const devices = head.ring.devices.map((device, id) =>
    state.devices[id] === null ? null : device,
  );
  context.tell(
    `${head.ring.keyspace}: ${names} ${gone.length === 1 ? 'has no slot any more and leaves' : 'have no slot any more and leave'} the ring`,
  );
  await commitVersion(context.rings, {
    ring: proposeMoves(head.ring, head.id, { moves: [], devices }),
    state,
    entry: {
      ...authorOf(context),
      kind: 'advance',
      message: `${names} left the ring`,
      moves: 0,
      figures: {},
      details: {},
    },
    expected: { head: { version: head.ring.version, id: head.id } },
    key: await ringKey(context),
  });
  return true;
}
