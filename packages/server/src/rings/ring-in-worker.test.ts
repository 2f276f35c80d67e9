// Deltas of large rings in a thread, and duties in turns: the same results, while other work
// continues.
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { dutiesOf } from '@ringwright/ring/duty-of';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { turnsOf } from '../../../../test/support/turns-of.ts';
import { activeDuties, prepareDuties } from './active-ring.ts';
import { applyRingDeltaInWorker, makeRingDeltaInWorker } from './ring-in-worker.ts';

const ring = servedRing({ power: 20, devices: 100 });
const { bytes: base, id } = encodeRing(ring);
const moves = [{ partition: 7, replica: 0, from: 7, to: 50 }];
const next = proposeMoves(ring, id, { moves });
const { bytes: file } = encodeRing(next);

test('a delta is made and applied in a thread', async () => {
  expect(base.length).toBeGreaterThan(ringTurnBytesMax);
  const turns = await turnsOf(async () => {
    const delta = await makeRingDeltaInWorker(base, file);
    expect(Buffer.from(delta!).equals(makeRingDelta(base, file)!)).toBe(true);
    expect(Buffer.from(await applyRingDeltaInWorker(base, delta!)).equals(file)).toBe(true);
  });
  expect(turns).toBeGreaterThan(20);
  expect(base.equals(encodeRing(ring).bytes), 'the bytes are still here').toBe(true);
});

test('a delta that does not fit is refused in the thread', async () => {
  const delta = Buffer.from(makeRingDelta(base, file)!);
  delta[delta.length - 9]! ^= 1;
  const refused = { code: 'RING_DELTA_INVALID' };
  await expect(applyRingDeltaInWorker(base, delta)).rejects.toMatchObject(refused);
  await expect(applyRingDeltaInWorker(file, makeRingDelta(base, file)!)).rejects.toMatchObject(
    refused,
  );
});

test('duties are computed in several turns, and kept for the next call', async () => {
  for (const self of [0, 50]) {
    const active = activeOn(next, self);
    expect(await turnsOf(() => prepareDuties(active))).toBeGreaterThan(1);
    const found = activeDuties(active);
    expect(found).toEqual(dutiesOf(next, self));
    expect(activeDuties(active)).toBe(found);
  }
});
