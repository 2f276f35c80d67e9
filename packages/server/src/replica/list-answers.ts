// This device's answers to listings and scans: pages of a partition in the order of key bytes.
import { createHash, hash } from 'node:crypto';
import { type KeyBounds, placeBehind } from '@ringwright/base/key-bounds';
import { listTurnBytesMax, listTurnRecordsMax } from '@ringwright/base/limits';
import { type HashedRow, isGone } from '@ringwright/partition/file/record';
import type { Caller } from '@ringwright/wire/call-channel';
import { type keysAfter, packPage, type pageRead } from '@ringwright/wire/listing';
import type { RequestOf } from '@ringwright/wire/message';
import {
  filling,
  notResponsible,
  passFence,
  type ReplicaAnswer,
  type ReplicaPorts,
} from './replica.ts';
import { wireContent } from './wire-record.ts';

export const answerKeys: ReplicaAnswer<typeof keysAfter> = async (ports, request, caller) => {
  const { after, nowMs } = request;
  const from = after.length === 0 ? after : placeBehind(after, false);
  const bounds = { from, to: null, reverse: false };
  const { rows, next } = await readPage(ports, { ...request, ...bounds }, caller);
  const keys = rows.map((row): [Uint8Array, number, number, boolean] => {
    return [row.key, row.ms, row.tie, isGone(row, nowMs)];
  });
  return { keys, more: next !== null };
};

/** Where only the digest is asked for, no values are read. */
export const answerPage: ReplicaAnswer<typeof pageRead> = async (ports, request, caller) => {
  const { partition, give, nowMs } = request;
  if (give === 'digest') {
    return { rows: new Uint8Array(), ...(await sumPage(ports, request, caller)) };
  }
  const { rows, next } = await readPage(ports, request, caller);
  const digest = hash('sha256', Buffer.concat(rows.map((row) => row.hash))).slice(0, DIGEST_DIGITS);
  const gone = rows.reduce((sum, row) => sum + (isGone(row, nowMs) ? 1 : 0), 0);
  const given = rows.map((row) => {
    const content = wireContent(row);
    const value = give === 'keys' && content.value !== null ? noValue : content.value;
    return { partition, key: row.key, ...content, value };
  });
  return { rows: packPage(given), gone, digest, next };
};

const DIGEST_DIGITS = 16;
const noValue = new Uint8Array();

type PageRequest = KeyBounds & Omit<RequestOf<typeof keysAfter>, 'after' | 'nowMs'>;

interface Page {
  readonly rows: readonly HashedRow[];
  /** Where the next page begins; null: the interval is done. */
  readonly next: Uint8Array | null;
}

/**
 * Only a device that serves reads may answer. A page ends early after large values: the store reads
 * them to compare their hashes. Devices that hold the same end it at the same record.
 */
async function readPage(ports: ReplicaPorts, request: PageRequest, caller: Caller): Promise<Page> {
  await checkServes(ports, request, caller);
  const { keyspace, partition, limit, reverse } = request;
  const rows: HashedRow[] = [];
  let { from, to } = request;
  for (let bytes = 0; rows.length < limit; ) {
    const wanted = Math.min(listTurnRecordsMax, limit - rows.length);
    const found = ports.store.scan(keyspace, partition, { from, to, reverse }, wanted);
    for (const row of found) {
      rows.push(row);
      bytes += row.key.length + (row.value?.length ?? 0);
      if (bytes >= listTurnBytesMax) return { rows, next: placeBehind(row.key, reverse) };
    }
    const last = found.at(-1);
    if (last === undefined || found.length < wanted) return { rows, next: null };
    if (reverse) to = last.key;
    else from = placeBehind(last.key, false);
  }
  const last = rows.at(-1);
  return { rows, next: last === undefined ? null : placeBehind(last.key, reverse) };
}

/**
 * The same page as readPage. Rows that would go beyond its bytes are summed up again, half as many
 * at once, until the one that ends it is found.
 */
async function sumPage(
  ports: ReplicaPorts,
  request: PageRequest & { readonly nowMs: number },
  caller: Caller,
): Promise<{ gone: number; digest: string; next: Uint8Array | null }> {
  await checkServes(ports, request, caller);
  const { keyspace, partition, limit, reverse, nowMs } = request;
  const hashes = createHash('sha256');
  let [count, bytes, gone, step] = [0, 0, 0, limit];
  let { from, to } = request;
  for (;;) {
    const wanted = Math.min(step, limit - count);
    const bounds = { from, to, reverse, limit: wanted, nowMs };
    const sum = ports.store.sum(keyspace, partition, bounds);
    if (wanted > 1 && bytes + sum.bytes >= listTurnBytesMax) {
      step = Math.ceil(wanted / 2);
      continue;
    }
    hashes.update(sum.hashes);
    count += sum.count;
    bytes += sum.bytes;
    gone += sum.gone;
    const isFull = count === limit || bytes >= listTurnBytesMax;
    if (isFull || sum.count < wanted || sum.last === null) {
      const digest = hashes.digest('hex').slice(0, DIGEST_DIGITS);
      const next = isFull && sum.last !== null ? placeBehind(sum.last, reverse) : null;
      return { gone, digest, next };
    }
    if (reverse) to = sum.last;
    else from = placeBehind(sum.last, false);
  }
}

/** Throws NOT_RESPONSIBLE, PARTITION_FILLING. */
async function checkServes(
  ports: ReplicaPorts,
  request: PageRequest,
  caller: Caller,
): Promise<void> {
  const { active, duty } = await passFence(ports, request, caller);
  const { keyspace, partition } = request;
  if (duty.kind !== 'SERVE') throw notResponsible(active, partition);
  if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
}
