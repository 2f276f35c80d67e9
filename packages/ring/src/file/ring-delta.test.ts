// Tests deltas between ring files: a delta makes exactly the bytes for which it was made, or is
// refused.
import { type Random, seededRandom } from '@ringwright/base/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultOrCode } from '../../../../test/support/refusal.ts';
import { idOf, nonHolderOf, sampleDevice, sampleRing } from '../../test/support/sample-ring.ts';
import { finalizeMoves, initializeMoves, proposeMoves } from '../advance-ring.ts';
import type { Ring } from '../ring.ts';
import { deviceOf } from '../slot-rows.ts';
import { withSignatures } from './ring-container.ts';
import { applyRingDelta, deltaEnds, makeRingDelta } from './ring-delta.ts';
import { decodeRing, encodeRing } from './ring-file.ts';

/** Returns the next version, in which a share of the partitions moves a slot to a non-holder. */
function proposed(ring: Ring, random: Random, share: number): Ring {
  const moves = [];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    if (random.next() >= share * 2 ** 32) continue;
    const to = nonHolderOf(ring, partition);
    if (to >= 0)
      moves.push({ partition, replica: 0, from: deviceOf(ring.table, 0, partition), to });
  }
  return proposeMoves(ring, idOf(ring), { moves });
}

/** Returns a first version and the versions of a random wave of moves after it. */
function history(size: Parameters<typeof sampleRing>[0], seed: number, share: number): Ring[] {
  const first = sampleRing(size);
  const second = proposed(first, seededRandom(seed), share);
  if (second.moves.length === 0) return [first, second];
  const third = initializeMoves(second, idOf(second));
  const fourth = finalizeMoves(third, idOf(third));
  const devices = [...fourth.devices, sampleDevice(fourth.devices.length)];
  const fifth = { ...fourth, version: 5, parent: idOf(fourth), devices };
  return [first, second, third, fourth, fifth];
}

function outcome(base: Uint8Array, delta: Uint8Array): Buffer | string {
  return resultOrCode(() => applyRingDelta(base, delta));
}

const sizes = fc.record({
  power: fc.integer({ min: 5, max: 10 }),
  replicas: fc.constantFrom(1, 2.5, 3),
  devices: fc.integer({ min: 6, max: 40 }),
});

describe('a delta between two rings', () => {
  test('a delta between versions makes the same bytes, with signatures and builder', () => {
    fc.assert(
      fc.property(
        sizes,
        fc.nat(),
        fc.double({ min: 0, max: 0.3, noNaN: true }),
        (size, seed, share) => {
          const files = history(size, seed, share).map(
            (ring, index) => encodeRing(ring, { builder: Buffer.alloc(200, index) }).bytes,
          );
          let made = 0;
          const signature = { keyid: 'a'.repeat(64), sig: `${'A'.repeat(86)}==` };
          for (const [index, base] of files.entries()) {
            for (const file of files.slice(index + 1)) {
              const signed = withSignatures(file, [signature]);
              const delta = makeRingDelta(base, signed);
              if (delta === null) continue;
              made += 1;
              expect(deltaEnds(delta)).toEqual({
                base: decodeRing(base).id,
                id: decodeRing(file).id,
              });
              expect(applyRingDelta(base, delta).equals(signed)).toBe(true);
              const otherwise = withSignatures(base, [signature]);
              expect(applyRingDelta(otherwise, delta).equals(signed), 'from a signed base').toBe(
                true,
              );
            }
          }
          if (size.power > 7 && share < 0.05) expect(made).toBeGreaterThan(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a delta between rings of different sizes makes the same bytes', () => {
    const base = encodeRing(sampleRing({ power: 8, replicas: 3, devices: 9 })).bytes;
    for (const size of [
      { power: 8, replicas: 2.5, devices: 9 },
      { power: 8, replicas: 3.5, devices: 9 },
      { power: 9, replicas: 3, devices: 9 },
      { power: 8, replicas: 3, devices: 300 },
    ]) {
      const file = encodeRing(sampleRing(size)).bytes;
      const delta = makeRingDelta(base, file);
      expect(applyRingDelta(base, delta!).equals(file)).toBe(true);
    }
    const wide = encodeRing(sampleRing({ power: 4, replicas: 3, devices: 65_536 })).bytes;
    const delta = makeRingDelta(base, wide);
    expect(applyRingDelta(base, delta!).equals(wide)).toBe(true);
  });

  test('a delta of 0.1 % of the slots of a power-20 ring is under 1 % of the file', () => {
    const random = seededRandom(7);
    const devices = 300;
    const first = sampleRing({ power: 20, replicas: 3, devices });
    // Each replica is on a hundred devices of its own: legal, and as hard to compress as random
    // data.
    for (const [replica, row] of first.table.entries()) {
      for (let at = 0; at < row.length; at += 1) row[at] = 100 * replica + (random.next() % 100);
    }
    const moves = Array.from({ length: 3_146 }, (_, index) => {
      const partition = index * 333 + (random.next() % 333);
      const from = deviceOf(first.table, index % 3, partition);
      const to = 100 * (index % 3) + ((from + 1 + (random.next() % 99)) % 100);
      return { partition, replica: index % 3, from, to };
    });
    const second = proposeMoves(first, idOf(first), { moves });
    const third = initializeMoves(second, idOf(second));
    const fourth = finalizeMoves(third, idOf(third));
    const files = [first, second, third, fourth].map((ring) => encodeRing(ring).bytes);
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 3],
      [0, 3],
    ] as const) {
      const [base, file] = [files[from]!, files[to]!];
      const delta = makeRingDelta(base, file)!;
      expect(delta.length).toBeLessThan(file.length / 100);
      expect(applyRingDelta(base, delta).equals(file)).toBe(true);
    }
  });
});

describe('a wrong or damaged delta', () => {
  const [first, second, , fourth] = history({ power: 6, replicas: 3, devices: 9 }, 3, 0.2);
  const [base, other, file] = [first!, second!, fourth!].map((ring) => encodeRing(ring).bytes);
  const delta = makeRingDelta(base!, file!)!;

  test('a delta for another base is refused', () => {
    expect(outcome(other!, delta)).toBe('RING_DELTA_INVALID');
  });

  test('a delta with any byte changed is refused or makes the same file', () => {
    for (let at = 0; at < delta.length; at += 1) {
      for (const change of [1, 0x80, 0xff]) {
        const damaged = Buffer.from(delta);
        damaged[at] = damaged[at]! ^ change;
        const made = outcome(base!, damaged);
        // A deflate stream has bits without meaning: a change of one may make the same file.
        if (typeof made !== 'string') expect(made.equals(file!), `byte ${at}`).toBe(true);
        else expect(made).toBe('RING_DELTA_INVALID');
      }
    }
  });

  test('a delta that is cut anywhere is refused', () => {
    for (let end = 0; end < delta.length; end += 1) {
      expect(outcome(base!, delta.subarray(0, end)), `${end} bytes`).toBe('RING_DELTA_INVALID');
    }
  });

  test('random bytes, also after a valid beginning, are refused or make the same file', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(delta.length), (bytes, kept) => {
        const made = outcome(base!, Buffer.concat([delta.subarray(0, kept), bytes]));
        if (typeof made !== 'string') expect(made.equals(file!)).toBe(true);
        else expect(made).toBe('RING_DELTA_INVALID');
      }),
    );
  });

  test('a body that claims too many bytes is refused', () => {
    const greedy = Buffer.from(delta);
    greedy.writeUInt32BE(0xffffffff, 100);
    expect(() => applyRingDelta(base!, greedy)).toThrow(/the body has 4294967295 bytes/);
  });
});
