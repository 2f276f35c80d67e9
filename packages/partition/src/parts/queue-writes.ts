// The way of writes into the log: checked, given room, answered when they are durable.
import { checkWrite } from '../file/check-write.ts';
import type { Partition } from '../file/partition.ts';
import type { Write, WriteOutcome } from '../file/record.ts';
import { bytesInBatch, type WriteCall } from '../log/log-batch.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

const ABSENT: WriteOutcome = { kind: 'absent' };

/** Told once what became of a write: in a later turn, or at once when there is no file for it. */
export interface WriteCaller {
  readonly stored: (outcome: WriteOutcome) => void;
  readonly failed: (error: unknown) => void;
}

/** As Store.write. One promise a call: this is the path of every single write. */
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

/** As Store.writeFor: no promise at all. */
export function queueWrite(parts: StoreParts, write: Write, caller: WriteCaller): void {
  checkOpen(parts);
  checkWrite(write);
  let isTold = false;
  const call: WriteCall = {
    outcomes: [ABSENT],
    waiting: 0,
    resolve: ([outcome = ABSENT]) => {
      isTold = true;
      caller.stored(outcome);
    },
    // A file that is damaged refuses its writes, and so may the whole store after it.
    reject: (error) => {
      if (isTold) return;
      isTold = true;
      caller.failed(error);
    },
  };
  queueWhenRoom(parts, [write], call);
}

function queueWhenRoom(parts: StoreParts, writes: readonly Write[], call: WriteCall): void {
  if (!parts.disk.low) queue(parts, writes, call);
  else
    parts.disk
      .require(0)
      .then(() => queue(parts, writes, call))
      .catch(call.reject);
}

function queue(parts: StoreParts, writes: readonly Write[], call: WriteCall): void {
  checkOpen(parts);
  const { log, disk } = parts;
  const places: (Partition | null)[] = [];
  let bytes = 0;
  for (const write of writes) {
    const partition = placeOf(parts, write);
    places.push(partition);
    if (partition === null) continue;
    call.waiting += 1;
    bytes += bytesInBatch(write, partition);
  }
  log.checkRoom(bytes);
  disk.note(bytes);
  if (call.waiting === 0) call.resolve(call.outcomes);
  for (const [index, write] of writes.entries()) {
    const partition = places[index] ?? null;
    if (partition !== null) log.append(write, { partition, call, index });
  }
}

/** Null where a write counts as absent. */
function placeOf({ registry }: StoreParts, { keyspace, partition }: Write): Partition | null {
  const found = registry.get(keyspace, partition);
  return found === undefined || found.gone || found.damage !== null ? null : found;
}
