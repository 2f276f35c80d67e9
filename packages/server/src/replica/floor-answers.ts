// This device's part in dropping old tombstones: first a promise, later the drop (raise-floor.ts).
import { CodedError } from '@ringwright/base/coded-error';
import { tombstoneAgeMsMin } from '@ringwright/base/limits-store';
import { retiringIn } from '@ringwright/ring/reshape-ring';
import type { Caller } from '@ringwright/wire/call-channel';
import type { floorPromise, floorRaise } from '@ringwright/wire/floors';
import type { RequestOf } from '@ringwright/wire/message';
import {
  filling,
  notResponsible,
  passFence,
  type ReplicaAnswer,
  type ReplicaPorts,
} from './replica.ts';

export const answerFloorPromise: ReplicaAnswer<typeof floorPromise> = async (
  ports,
  request,
  caller,
) => {
  const incarnation = await completeHolder(ports, request, caller);
  const { keyspace, partition, floorMs } = request;
  // A sender that asks for a younger floor has a wrong clock: writes of today would be refused.
  if (ports.clock.aheadMs({ ms: floorMs, tie: 0 }) > -tombstoneAgeMsMin / 2) {
    throw new CodedError('CLOCK_AHEAD', `a floor of ${floorMs} ms is too recent by the clock here`);
  }
  await ports.store.raiseBarrier(keyspace, partition, floorMs);
  await ports.inFlight.drained(keyspace, partition);
  return { incarnation };
};

export const answerFloorRaise: ReplicaAnswer<typeof floorRaise> = async (
  ports,
  request,
  caller,
) => {
  const incarnation = await completeHolder(ports, request, caller);
  const { keyspace, partition, floorMs } = request;
  // A file that replaced the promised one may lack what that one had.
  if (incarnation !== request.incarnation) throw filling(partition);
  await ports.store.raiseFloor(keyspace, partition, floorMs);
  return {};
};

/**
 * Returns the incarnation here if this device serves the partition, has all of it, and nothing
 * moves. Throws otherwise.
 */
async function completeHolder(
  ports: ReplicaPorts,
  request: RequestOf<typeof floorPromise>,
  caller: Caller,
): Promise<string> {
  const { keyspace, partition } = request;
  const { active, duty } = await passFence(ports, request, caller);
  if (duty.kind !== 'SERVE') throw notResponsible(active, partition);
  const info = ports.store.info(keyspace, partition);
  const moving =
    retiringIn(active.ring).has(partition) ||
    active.ring.moves.some((move) => move.partition === partition);
  if (info?.state !== 'ready' || moving) throw filling(partition);
  return info.incarnation;
}
