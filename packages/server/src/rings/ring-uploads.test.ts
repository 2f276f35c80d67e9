// Uploads from many connections: never more bytes or uploads than allowed, and idle ones make room.
import {
  ringUploadIdleMsMax,
  ringUploadsBytesMax,
  ringUploadsMax,
} from '@ringwright/base/limits-rings';
import type { Caller } from '@ringwright/wire/call-channel';
import { afterEach, expect, test, vi } from 'vitest';
import { RingUploads } from './ring-uploads.ts';

const connection = (): Caller => ({ call: () => Promise.reject(new Error('not called')) });
const expected = { id: 'a'.repeat(64), keyspace: 'cities', base: null };
const busy = expect.objectContaining({ code: 'PEER_BUSY' });

test('uploads above the limit are refused until one ends or is idle', () => {
  let nowMs = 0;
  const uploads = new RingUploads(() => nowMs);
  const callers = Array.from({ length: ringUploadsMax }, connection);
  for (const caller of callers) uploads.begin(caller, { ...expected, bytes: 2 });
  const late = connection();
  expect(() => uploads.begin(late, { ...expected, bytes: 2 })).toThrow(busy);
  uploads.begin(callers[0]!, { ...expected, bytes: 3 });
  uploads.end(callers[1]!);
  uploads.begin(late, { ...expected, bytes: 2 });
  nowMs += ringUploadIdleMsMax;
  uploads.add(late, Buffer.of(1));
  nowMs += 1;
  uploads.begin(connection(), { ...expected, bytes: 2 });
  expect(uploads.find(callers[2]!)).toBeUndefined();
  expect(uploads.add(late, Buffer.of(2))?.content).toEqual(Buffer.of(1, 2));
  expect(uploads.find(late)).toBeUndefined();
});

afterEach(() => void vi.useRealTimers());

test('the upload of a broken connection is removed after a time', () => {
  vi.useFakeTimers();
  const uploads = new RingUploads(() => Date.now());
  const [broken, slow] = [connection(), connection()];
  for (const caller of [broken, slow]) uploads.begin(caller, { ...expected, bytes: 9 });
  vi.advanceTimersByTime(ringUploadIdleMsMax);
  expect(uploads.add(slow, Buffer.of(1))).toBeNull();
  vi.advanceTimersByTime(ringUploadIdleMsMax);
  expect([broken, slow].map((caller) => uploads.find(caller)?.received)).toEqual([undefined, 1]);
  vi.advanceTimersByTime(2 * ringUploadIdleMsMax);
  expect(uploads.find(slow)).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test('all uploads share a limit of bytes', () => {
  const uploads = new RingUploads(() => 0);
  const [one, other] = [connection(), connection()];
  // The same buffer again and again: the bytes are counted as if each chunk had its own memory.
  const chunk = Buffer.alloc(ringUploadsBytesMax / 4);
  for (const caller of [one, other]) uploads.begin(caller, { ...expected, bytes: 1e9 });
  for (const caller of [one, other, one, other]) expect(uploads.add(caller, chunk)).toBeNull();
  expect(() => uploads.add(one, Buffer.of(1))).toThrow(busy);
  expect(uploads.find(one), 'it has made room for the other upload').toBeUndefined();
  expect(uploads.add(other, chunk)).toBeNull();
});
