// This device's answers to listings and scans: pages of a partition in the order of key bytes.
import { createHash } from 'node:crypto';
import { positionAfterKey } from '@ringwright/base/key-bounds';
import { listTurnBytesMax } from '@ringwright/base/limits';
import { type HashedRow, isDeletedAt } from '@ringwright/partition/file/record';
import { type keysAfter, type PageRow, packPage, type pageRead } from '@ringwright/wire/listing';
import { passFence, type ReplicaAnswer, requireServing } from './replica.ts';
import { wireContent } from './wire-record.ts';

export const answerKeys: ReplicaAnswer<typeof keysAfter> = async (ports, request, caller) => {
  requireServing(ports, request, await passFence(ports, request, caller));
  const { after, nowMs } = request;
  const from = after.length === 0 ? after : positionAfterKey(after, false);
  const bounds = { ...request, from, to: null, reverse: false, bytesMax: listTurnBytesMax };
  const { rows, next } = ports.store.pages.read(request, bounds);
  const keys = rows.map((row): [Uint8Array, number, number, boolean] => {
    return [row.key, row.ms, row.tie, isDeletedAt(row, nowMs)];
  });
  return { keys, more: next !== null };
};

/** Returns a page. If only its digest is asked for, no values are read. */
export const answerPage: ReplicaAnswer<typeof pageRead> = async (ports, request, caller) => {
  requireServing(ports, request, await passFence(ports, request, caller));
  const { partition, give } = request;
  const bounds = { ...request, bytesMax: listTurnBytesMax };
  if (give === 'digest') {
    const { gone, hashes, next } = ports.store.pages.sum(request, bounds);
    return { rows: noBytes, gone, digest: digestOf(hashes), next };
  }
  const { rows, gone, hashes, next } = ports.store.pages.read(request, bounds);
  const pageRows = rows.map((row) => pageRow(row, { partition, values: give === 'records' }));
  return { rows: packPage(pageRows), gone, digest: digestOf(hashes), next };
};

const noBytes = new Uint8Array();

function digestOf(hashes: Buffer): string {
  return createHash('sha256').update(hashes).digest('hex').slice(0, 16);
}

function pageRow(
  row: HashedRow,
  { partition, values }: { readonly partition: number; readonly values: boolean },
): PageRow {
  const content = wireContent(row);
  const value = values || content.value === null ? content.value : noBytes;
  return { partition, key: row.key, ...content, value };
}
