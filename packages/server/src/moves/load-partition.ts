// Fills this device's file of a partition: from the device it replaces, or from enough other slots.
import { must } from '@ringwright/base/assert';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { copySourceFaultsMax } from '@ringwright/base/limits-copies';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Move } from '@ringwright/ring/move';
import { quorumOf } from '@ringwright/ring/quorum';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { MoveReceipt } from '@ringwright/ring/trust/move-receipt';
import { copyPartition } from '../copies/copy-partition.ts';
import type { CopyResult } from '../copies/copy-task.ts';
import { holdingAt } from '../peers/holdings.ts';
import { filling } from '../replica/replica.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { fillChild, parentsHere } from './fill-child.ts';
import type { LoadPorts, LoadTask } from './load-task.ts';
import { catchUpFile, pullRows } from './pull-rows.ts';
import { hasEnoughSources, sourcesOf, tooFewSources } from './refill-sources.ts';
import { takeOverBallots } from './take-over-ballots.ts';

/** Where the records came from, for the receipt. */
export interface Loaded {
  /** The device that gave its whole file, and its description of the file; null if none did. */
  readonly copy: (CopyResult & { readonly device: number }) | null;
  /** Devices that gave all their records, in order. */
  readonly merged: readonly number[];
  /** Fewer devices gave their records than are needed to cover every quorum; absent: enough did. */
  readonly isForced?: boolean;
}

/**
 * When it resolves, this device holds every record that a quorum acknowledged before the load
 * began, and through its own writes those acknowledged since. The source is the device replaced in
 * the slot. If that device cannot give its file, or the slot is new, N - W + 1 other slots are the
 * source: every quorum included one of them. A child of a split or merge is filled from the files
 * here. Throws NOT_ENOUGH_REPLICAS, COPY_BUSY, COPY_CUT, DISK_FULL before the source is asked, and
 * COPY_INVALID for the first bad copies of the source.
 */
export async function loadPartition(ports: LoadPorts, task: LoadTask): Promise<Loaded> {
  const { active, partition, move, earlier } = task;
  const parents = parentsHere(ports.store, task);
  if (parents !== null) {
    await fillChild(ports, task, parents);
    return { copy: null, merged: [] };
  }
  const { sourceFaults, bytes: neededBytes } = earlier ?? { sourceFaults: 0, bytes: null };
  // Spares the source a snapshot for a disk that has no room for it.
  if (neededBytes !== null) await ports.store.copies.requireRoom(neededBytes);
  const slots = slotsOf(active.ring, partition);
  const others = slots
    .map(({ device }) => device)
    .filter((device) => device !== active.self && device !== move?.from);
  if (move !== null && move.from !== null && sourceFaults < copySourceFaultsMax) {
    try {
      const copy = await takeFile(ports, task, move.from);
      return { copy, merged: copy === null ? [move.from] : [] };
    } catch (error) {
      // The replaced device has everything, so another bad copy of it costs less than merging the
      // others.
      const isFirst = hasCode(error, 'COPY_INVALID') && sourceFaults + 1 < copySourceFaultsMax;
      if (isFirst || !isSourceUnavailable(error)) throw error;
      task.onProgress({ reason: `d${move.from}: ${error.message}; trying the other slots` });
    }
  }
  const quorum = quorumOf(slots.length);
  return loadFromOthers(ports, task, { others, needed: slots.length - quorum + 1 });
}

/**
 * Takes the whole file of the first device that gives it, then all records of further devices,
 * until enough have given theirs. A refill also succeeds when every other device gave all it has
 * and that suffices, even if some are filling themselves: there is nothing more to wait for, and
 * they may be waiting for this device.
 */
async function loadFromOthers(
  ports: LoadPorts,
  task: LoadTask,
  { others, needed }: { readonly others: readonly number[]; readonly needed: number },
): Promise<Loaded> {
  const isRefill = task.move === null;
  // A load is retried every few seconds. One that cannot succeed must not copy a file each time.
  const sources = await sourcesOf(ports, task, others);
  const isEnough = isRefill ? hasEnoughSources(sources, needed) : sources.ready.length >= needed;
  if (!isEnough && task.isForced !== true) throw tooFewSources(task, sources, needed);
  const failures: string[] = [];
  let copy: Loaded['copy'] = null;
  const merged: number[] = [];
  const sourceCount = (): number => merged.length + (copy === null ? 0 : 1);
  const merge = async (device: number): Promise<void> => {
    await pullRows(ports, task, { device });
    merged.push(device);
  };
  const attempt = async (device: number, load: () => Promise<void>): Promise<void> => {
    try {
      await load();
    } catch (error) {
      // One that is busy will give its file: nobody else needs to be asked for it.
      const isBusy = hasCode(error, 'COPY_BUSY');
      if (!isSourceUnavailable(error) && !isBusy) throw error;
      failures.push(`d${device}: ${error.message}`);
      if (isBusy && others.length - failures.length < needed) throw error;
    }
  };
  for (const device of others) {
    if (sourceCount() >= needed) break;
    await attempt(device, async () => {
      const state = (await holdingAt(ports.devices, task, device))?.state;
      if (state === 'filling' || state === 'lost') throw filling(task.partition);
      if (sourceCount() > 0) return merge(device);
      copy = await takeFile(ports, task, device);
      if (copy === null) merged.push(device);
    });
  }
  if (sourceCount() >= needed) return { copy, merged };
  const isSource = (device: number): boolean => merged.includes(device) || copy?.device === device;
  const ready = others.filter(isSource);
  if (isRefill) {
    const rest = [...sources.filling, ...sources.lost].filter((device) => !isSource(device));
    for (const device of rest) await attempt(device, () => merge(device));
    const isAll = sourceCount() === others.length;
    // A device that has lost its copy meanwhile gave less than it was counted for.
    if (isEnough && isAll && hasEnoughSources(await sourcesOf(ports, task, others), needed)) {
      return { copy, merged };
    }
  }
  if (task.isForced === true) return { copy, merged, isForced: true };
  const lost = isRefill ? sources.lost : [];
  throw tooFewSources(task, { ready, filling: [], lost, failures, isLostHere: false }, needed);
}

/**
 * Takes all that the device has: only the missed records, which returns null, or its whole file.
 */
async function takeFile(ports: LoadPorts, task: LoadTask, device: number): Promise<Loaded['copy']> {
  const caughtUpFile = await catchUpFile(ports, task, device);
  if (caughtUpFile === null) return copyAndCatchUp(ports, task, device);
  task.onProgress({ stage: 'catching-up', rows: caughtUpFile.rows });
  await pullRows(ports, task, { device, copied: caughtUpFile });
  return null;
}

async function copyAndCatchUp(
  ports: LoadPorts,
  task: LoadTask,
  device: number,
): Promise<Loaded['copy']> {
  const { active, partition, move, onProgress } = task;
  onProgress({ stage: 'reserving', bytes: 0 });
  const { hasPromises, ...copied } = await copyPartition(ports, {
    active,
    partition,
    assignment: move?.from === device ? move.assignment : null,
    source: device,
    isForced: task.isForced,
    onBytes: (bytes, bytesTotal) => onProgress({ stage: 'copying', bytes, bytesTotal }),
    onReceived: () => onProgress({ stage: 'verifying' }),
    onDetour: (reason) => onProgress({ reason }),
  });
  // failpoint: load.copied
  onProgress({ stage: 'catching-up', rows: copied.rows, bytes: copied.bytes, copiesVerified: 1 });
  if (hasPromises === undefined) await pullRows(ports, task, { device, copied });
  else if (hasPromises) await takeOverBallots(ports, { active, partition, device });
  return { device, ...copied };
}

/** The device cannot give its file now. Another device may give its own. */
function isSourceUnavailable(error: unknown): error is CodedError {
  return error instanceof CodedError && error.retry === 'other-server';
}

/** What a joiner says of a load that has ended well: the receipt of its move, yet unsigned. */
export type LoadReceipt = Omit<MoveReceipt, 'key' | 'born' | 'ms'>;

export function receiptOfLoad(
  { ring, id }: ActiveRing,
  move: Move,
  {
    loaded,
    info,
    forceReason,
  }: {
    readonly loaded: Loaded;
    readonly info: PartitionInfo | null;
    readonly forceReason: string | null;
  },
): LoadReceipt {
  const { partition, replica, assignment, from, to } = move;
  const { cluster, keyspace, version } = ring;
  const file = must(info, `partition ${partition} has a file when its load has ended`);
  const { incarnation, seq, digest, rows, bytes } = file;
  return {
    ...{ cluster, keyspace, version, ring: id },
    ...{ partition, replica, assignment, from, to },
    copy: loaded.copy,
    merged: [...loaded.merged],
    forced: loaded.isForced === true ? forceReason : null,
    file: { incarnation, seq, digest, rows, bytes },
  };
}
