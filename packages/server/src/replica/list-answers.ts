// This device's answers to listings and scans: pages of a partition in the order of key bytes.
import { hash } from 'node:crypto';
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

/** Records of a page cost the most where they are read; on the way their digest is enough. */
export const answerPage: ReplicaAnswer<typeof pageRead> = async (ports, request, caller) => {
  const { partition, give, nowMs } = request;
  const { rows, next } = await readPage(ports, request, caller);
  const digest = hash('sha256', Buffer.concat(rows.map((row) => row.hash))).slice(0, 16);
  const gone = rows.reduce((sum, row) => sum + (isGone(row, nowMs) ? 1 : 0), 0);
  if (give === 'digest') return { rows: new Uint8Array(), gone, digest, next };
  const given = rows.map((row) => {
    const content = wireContent(row);
    const value = give === 'keys' && content.value !== null ? noValue : content.value;
    return { partition, key: row.key, ...content, value };
  });
  return { rows: packPage(given), gone, digest, next };
};

const noValue = new Uint8Array();

interface Page {
  readonly rows: readonly HashedRow[];
  /** Where the next page begins; null: the interval is done. */
  readonly next: Uint8Array | null;
}

/**
 * Only a device that serves reads may answer. A page ends early after large values: the store reads
 * them to compare their hashes. Devices that hold the same end it at the same record.
 */
async function readPage(
  ports: ReplicaPorts,
  request: KeyBounds & Omit<RequestOf<typeof keysAfter>, 'after' | 'nowMs'>,
  caller: Caller,
): Promise<Page> {
  const { active, duty } = await passFence(ports, request, caller);
  if (duty.kind !== 'SERVE') throw notResponsible(active, request.partition);
  const { keyspace, partition, limit, reverse } = request;
  if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
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
