// Queues writes for the log: validates them, checks for room, and answers when they are durable.
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { stampMsMax } from '@ringwright/base/stamp';
import { isClosedFile } from '../file/file-opener.ts';
import type { Partition } from '../file/partition.ts';
import type { Write, WriteOutcome } from '../file/record.ts';
import { isStamp, isWholeUpTo } from '../file/record-bytes.ts';
import { bytesInBatch, type WriteCall } from '../log/log-batch.ts';
import { mirroredWrite, writeRefused } from './mirrors.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

const ABSENT: WriteOutcome = { kind: 'absent' };

/**
 * Called once with the result of a write: in a later turn, or at once when there is no file for it.
 */
export interface WriteCaller {
  readonly stored: (outcome: WriteOutcome) => void;
  readonly failed: (error: unknown) => void;
}

/** Implements Store.write: one promise per call, for writes that come together. */
export function queueWrites(
  parts: StoreParts,
  writes: readonly Write[],
): Promise<readonly WriteOutcome[]> {
  return new Promise((resolve, reject) => {
    checkOpen(parts);
    for (const write of writes) checkWrite(write);
    const outcomes = writes.map(() => ABSENT);
    queueWhenRoom(parts, writes, { outcomes, waiting: 0, resolve, reject });
  });
}

/** Implements Store.writeFor. Creates no promise: this is the path of every single write. */
export function queueWriteFor(parts: StoreParts, write: Write, caller: WriteCaller): void {
  checkOpen(parts);
  checkWrite(write);
  let isAnswered = false;
  const call: WriteCall = {
    outcomes: [ABSENT],
    waiting: 0,
    resolve: ([outcome = ABSENT]) => {
      isAnswered = true;
      caller.stored(outcome);
    },
    // A damaged file rejects its writes, and the whole store may fail after that.
    reject: (error) => {
      if (isAnswered) return;
      isAnswered = true;
      caller.failed(error);
    },
  };
  queueWhenRoom(parts, [write], call);
}

/** Queues the writes at once, unless the disk is nearly full or many files have to be opened. */
function queueWhenRoom(parts: StoreParts, writes: readonly Write[], call: WriteCall): void {
  const { disk, opener, registry } = parts;
  const closed = new Set<Partition>();
  for (const { keyspace, partition } of writes) {
    const found = registry.get(keyspace, partition);
    if (found !== undefined && isClosedFile(found)) closed.add(found);
  }
  if (!disk.low && opener.openNow(closed)) {
    queue(parts, writes, call);
    return;
  }
  // The caller may use its arrays again.
  const copies = writes.map((write) => ({
    ...write,
    key: Buffer.from(write.key),
    value: write.value && Buffer.from(write.value),
  }));
  const room = disk.low ? disk.require() : Promise.resolve();
  room
    .then(() => opener.open(closed))
    .then(() => queue(parts, copies, call))
    .catch(call.reject);
}

function queue(parts: StoreParts, writes: readonly Write[], call: WriteCall): void {
  checkOpen(parts);
  const { log, disk } = parts;
  const partitions: (Partition | null)[] = [];
  const twins =
    parts.mirrors.size === 0 ? noTwins : writes.map((write) => placedTwin(parts, write));
  let bytes = 0;
  for (const [index, write] of writes.entries()) {
    const twin = twins[index] ?? null;
    const partition = twin === writeRefused ? null : placeOf(parts, write);
    partitions.push(partition);
    if (partition === null) continue;
    call.waiting += 1;
    bytes += bytesInBatch(write, partition);
    if (twin === null || twin === writeRefused) continue;
    call.waiting += 1;
    bytes += bytesInBatch(twin.write, twin.partition);
  }
  log.checkRoom(bytes);
  disk.note(bytes);
  if (call.waiting === 0) call.resolve(call.outcomes);
  for (const [index, write] of writes.entries()) {
    const partition = partitions[index] ?? null;
    if (partition === null) continue;
    log.append(write, { partition, call, index });
    const twin = twins[index] ?? null;
    if (twin === null || twin === writeRefused) continue;
    log.append(twin.write, { partition: twin.partition, call: twinCall(parts, call), index: 0 });
  }
}

interface Twin {
  readonly write: Write;
  readonly partition: Partition;
}

const noTwins: readonly (Twin | null)[] = [];

function placedTwin(parts: StoreParts, write: Write): Twin | typeof writeRefused | null {
  const twin = mirroredWrite(parts, write);
  if (twin === null || twin === writeRefused) return twin;
  const partition = placeOf(parts, twin);
  return partition === null ? null : { write: twin, partition };
}

/**
 * The answer to a write is that of the parent, given after the child's write has ended too. A
 * damaged child does not matter: it will be filled again.
 */
function twinCall(parts: StoreParts, call: WriteCall): WriteCall {
  const done = (): void => {
    call.waiting -= 1;
    if (call.waiting === 0) call.resolve(call.outcomes);
  };
  // A failed store rejects the write itself.
  const reject = (): void => queueMicrotask(() => (parts.failure === null ? done() : undefined));
  return { outcomes: [ABSENT], waiting: 1, resolve: done, reject };
}

/** Null where a write counts as absent. */
function placeOf({ registry }: StoreParts, { keyspace, partition }: Write): Partition | null {
  const found = registry.get(keyspace, partition);
  if (found === undefined || found.isDropped || found.damage !== null) return null;
  found.requests += 1;
  return found;
}

/**
 * Runs before anything is queued. Throws KEY_INVALID, VALUE_TOO_LARGE, or VALUE_OUT_OF_RANGE for a
 * stamp or an expiry.
 */
function checkWrite(write: Write): void {
  const { key, value, ms, tie, expiresMs = 0, origin = null } = write;
  checkKey(key);
  if (value !== null && value.length > valueBytesMax) {
    throw new CodedError(
      'VALUE_TOO_LARGE',
      `value of ${value.length} bytes; the maximum is ${valueBytesMax}`,
      { hint: 'store it in parts under several keys' },
    );
  }
  if (!isStamp(write) || (origin !== null && !isStamp(origin))) {
    throw new CodedError('VALUE_OUT_OF_RANGE', `${ms}.${tie} is not a valid stamp`);
  }
  if (!isWholeUpTo(expiresMs, stampMsMax)) {
    throw new CodedError('VALUE_OUT_OF_RANGE', `expiry ${expiresMs} is not a valid time`);
  }
}
