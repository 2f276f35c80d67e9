// Gives up a partition file that this device should not hold, once every holder has all of it.
import { CodedError } from '@ringwright/base/coded-error';
import { holdersOf } from '@ringwright/ring/slots-of';
import { offerRowsMax } from '@ringwright/wire/replication';
import { holdingAt } from '../peers/holdings.ts';
import { isCoveredByPeer } from '../repair/compare-holders.ts';
import { type PushPorts, pushRows } from '../repair/push-rows.ts';
import type { InFlight } from '../replica/in-flight.ts';
import type { ActivePartition, ActiveRing } from '../rings/active-ring.ts';
import { isSurplus } from './plan-duties.ts';

export interface DrainPorts extends PushPorts {
  readonly inFlight: InFlight;
  /** The active ring at the time of the call. */
  readonly current: (keyspace: string) => ActiveRing;
  /** Throws the reason why data must not be dropped now: why-no-drops.ts. */
  readonly requireDropsAllowed: (active: ActiveRing) => void;
}

/**
 * Relies on the fence of the active ring, so nothing new is written here, and waits for the writes
 * under way. The file goes to the trash when each holder has each of its records or a newer one.
 * Digests and last rows show that, or else an offer of every record that finds nothing missing. A
 * crash at any point leaves the file, and the drain begins again.
 */
export async function drainPartition(
  ports: DrainPorts,
  { active, partition }: ActivePartition,
): Promise<void> {
  const { keyspace } = active.ring;
  ports.requireDropsAllowed(active);
  await ports.inFlight.drained(keyspace, partition);
  const info = ports.store.info(keyspace, partition);
  if (info === null || !isSurplus(active, partition)) return;
  if (ports.current(keyspace).id !== active.id) throw changed(partition);
  const holders = holdersOf(active.ring, partition);
  if (holders.length === 0 && active.self === null) throw reshaped(partition);
  // From here on the file misses writes, so if a later ring names this device again, it must
  // refill.
  if (info.state === 'ready') await ports.store.setState(keyspace, partition, 'filling');
  // failpoint: drain.fenced
  await Promise.all(holders.map((device) => confirmAll(ports, { active, partition, device })));
  const infoNow = ports.store.info(keyspace, partition);
  const latest = ports.current(keyspace);
  const unchanged = infoNow?.seq === info.seq && infoNow.incarnation === info.incarnation;
  if (!unchanged || latest.id !== active.id) throw changed(partition);
  ports.requireDropsAllowed(active);
  // failpoint: drain.before-drop
  await ports.store.drop(keyspace, partition);
}

function changed(partition: number): CodedError {
  return new CodedError('RING_STALE', `partition ${partition} changed while it was drained`);
}

/**
 * The records are in other partitions now, and no device can be asked whether it has all of them.
 */
function reshaped(partition: number): CodedError {
  const since = `partition ${partition} was split, merged or retired while this server was away`;
  const message = `${since}: no device can confirm its records, so its file stays`;
  return new CodedError('NOT_ENOUGH_REPLICAS', message, {
    hint: `ring-server inspect DIR RING ${partition} shows it; it may be deleted by hand`,
  });
}

interface Holder extends ActivePartition {
  readonly device: number;
}

async function confirmAll(ports: DrainPorts, holder: Holder): Promise<void> {
  const ownInfo = ports.store.info(holder.active.ring.keyspace, holder.partition);
  const { digest, incarnation } = await holdingOf(ports, holder);
  if (digest === ownInfo?.digest) return;
  if (await isCoveredByPeer(ports, { ...holder, incarnation })) return;
  const everything = { ...holder, since: 0, nowMs: Number.POSITIVE_INFINITY };
  // Most often it lacks only a few of the last writes.
  const lastRows = { ...everything, since: Math.max(0, (ownInfo?.seq ?? 0) - offerRowsMax) };
  await pushRows(ports, lastRows);
  if (await isCoveredByPeer(ports, { ...holder, incarnation })) return;
  if (lastRows.since > 0) {
    await pushRows(ports, everything);
    if (await isCoveredByPeer(ports, { ...holder, incarnation })) return;
  }
  const proof = await pushRows(ports, everything);
  if (proof.pushed > 0) {
    const message = `d${holder.device} still lacked ${proof.pushed} records`;
    throw new CodedError('PARTITION_FILLING', message);
  }
}

async function holdingOf({ devices }: DrainPorts, { active, partition, device }: Holder) {
  const { table } = active.ring;
  const holding = await holdingAt(devices, { active, partition }, device);
  // A holder that the table names must be complete itself. For a joiner it is enough to have the
  // records, because it takes over nothing yet.
  const serves = table.some((row) => row[partition] === device);
  if (!holding || (serves && holding.state !== 'ready')) {
    throw new CodedError('PARTITION_FILLING', `d${device} lacks part of partition ${partition}`);
  }
  return holding;
}
