// Fills this device's file of a partition: from the device it replaces, or from enough other slots.
import { CodedError } from '@ringwright/base/coded-error';
import type { Store } from '@ringwright/partition/store';
import type { Move } from '@ringwright/ring/move';
import { slotsOf } from '@ringwright/ring/slots-of';
import { rowsSince } from '@ringwright/wire/replication';
import type { ActiveRing } from './active-ring.ts';
import { copyPartition } from './copy-partition.ts';
import type { DeviceCaller } from './device-caller.ts';
import type { LoadProgress } from './load-progress.ts';

export interface LoadPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
}

export interface LoadTask {
  readonly active: ActiveRing;
  readonly partition: number;
  /** The move that brings the partition here; null for a holder that lost its records. */
  readonly move: Move | null;
  readonly onProgress: (change: Partial<LoadProgress>) => void;
}

/**
 * After it resolves, this device holds every record that a quorum acknowledged before it began, and
 * through its own
 * writes those acknowledged since. The source is the device replaced in the slot; when that one
 * cannot give its file, or when the slot is a new one,
 * N - W + 1 other slots: one of them took part in every quorum.
 */
export async function loadPartition(ports: LoadPorts, task: LoadTask): Promise<void> {
  const { active, partition, move } = task;
  const slots = slotsOf(active.ring, partition);
  const others = slots
    .map(({ device }) => device)
    .filter((device) => device !== active.self && device !== move?.from);
  if (move !== null && move.from !== null) {
    try {
      await copyAndCatchUp(ports, task, move.from);
      return;
    } catch (error) {
      if (!isAway(error)) throw error;
      task.onProgress({ reason: `d${move.from}: ${error.message}; trying the other slots` });
    }
  }
  const quorum = Math.floor(slots.length / 2) + 1;
  const needed = Math.min(slots.length - quorum + 1, others.length);
  await loadFromOthers(ports, task, { others, needed });
}

/**
 * The whole file of the first device that gives it, then all records of further ones, until enough
 * gave theirs.
 */
async function loadFromOthers(
  ports: LoadPorts,
  task: LoadTask,
  { others, needed }: { readonly others: readonly number[]; readonly needed: number },
): Promise<void> {
  const failures: string[] = [];
  let sources = 0;
  for (const device of others) {
    if (sources === needed) return;
    try {
      if (sources === 0) await copyAndCatchUp(ports, task, device);
      else await pullRows(ports, task, { device, since: 0 });
      sources += 1;
    } catch (error) {
      if (!isAway(error)) throw error;
      failures.push(`d${device}: ${error.message}`);
    }
  }
  if (sources >= needed) return;
  const gave = `${sources} of the ${needed} slots needed gave partition ${task.partition}`;
  const message = `${gave}: ${failures.join('; ')}`;
  throw new CodedError('NOT_ENOUGH_REPLICAS', message, { details: { sources, needed, failures } });
}

async function copyAndCatchUp(ports: LoadPorts, task: LoadTask, device: number): Promise<void> {
  const { active, partition, move, onProgress } = task;
  onProgress({ stage: 'copying', bytes: 0 });
  const copied = await copyPartition(ports, {
    active,
    partition,
    assignment: move?.from === device ? move.assignment : null,
    source: device,
    onBytes: (bytes, bytesTotal) => onProgress({ bytes, bytesTotal }),
  });
  onProgress({ stage: 'catching-up', rows: copied.rows, bytes: copied.bytes, copiesVerified: 1 });
  await pullRows(ports, task, { device, since: copied.seq });
}

/** Takes the device's records after a sequence until it has no more, under their own timestamps. */
async function pullRows(
  ports: LoadPorts,
  { active, partition, move }: LoadTask,
  from: { readonly device: number; readonly since: number },
): Promise<void> {
  const { keyspace, version } = active.ring;
  const assignment = move?.assignment ?? null;
  for (let since = from.since; ; ) {
    const request = { keyspace, ringVersion: version, partition, assignment, since };
    const answer = await ports.devices.call({ active, device: from.device }, rowsSince, request);
    await ports.store.write(answer.rows.map((row) => ({ keyspace, partition, ...row })));
    if (!answer.more) return;
    since = answer.lastSeq;
  }
}

/** Errors that say "not this device now": another one may give what it cannot. */
function isAway(error: unknown): error is CodedError {
  return (
    error instanceof CodedError &&
    (error.code.startsWith('PEER_') || error.code === 'PARTITION_FILLING')
  );
}
