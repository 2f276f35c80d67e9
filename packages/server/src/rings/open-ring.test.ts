// Small rings are opened in this turn and large ones in a thread, with the same result.
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { turnsOf } from '../../../../test/support/turns-of.ts';
import { openRing } from './open-ring.ts';
import { openRingInWorker } from './ring-in-worker.ts';

/** Just above the size that is opened in one turn. */
const ring = servedRing({ power: 20, devices: 100 });
const { bytes, id } = encodeRing(ring);

test('a large ring is opened as a whole while other work continues', async () => {
  expect(bytes.length).toBeGreaterThan(ringTurnBytesMax);
  const turns = await turnsOf(async () => {
    expect(await openRingInWorker(bytes, null)).toEqual(openRing(bytes, null));
  });
  expect(turns).toBeGreaterThan(10);
  expect(bytes.equals(encodeRing(ring).bytes), 'the bytes are still here').toBe(true);
});

test('a successor is compared with the ring that it follows, and with no other', async () => {
  const moves = [{ partition: 7, replica: 0, from: 7, to: 50 }];
  const next = encodeRing(proposeMoves(ring, id, { moves })).bytes;
  const opened = await openRingInWorker(next, { ring, id, bytes });
  expect(opened.change).toMatchObject({ slots: 3 * 2 ** 20, moved: 1 });
  expect(opened).toEqual(openRing(next, { ring, id }));
  expect(openRing(bytes, { ring, id }).change).toBeNull();
});

test('errors and findings of a ring are returned from the thread', async () => {
  const flipped = Buffer.from(bytes);
  flipped[flipped.length - 9]! ^= 1;
  await expect(openRingInWorker(flipped, null)).rejects.toMatchObject({
    code: 'RING_FILE_INVALID',
  });
  const twice = { ...ring, table: [ring.table[0]!, ring.table[0]!, ring.table[2]!] };
  const { findings } = await openRingInWorker(encodeRing(twice).bytes, null);
  expect(findings[0]).toMatchObject({ code: 'PARTITION_DEVICE_TWICE' });
});
