// The drop guard: drops that moves explain pass, a few others pass, and many without a move are
// held until an operator confirms them.
import { dropsFreeMax } from '@ringwright/base/limits-copies';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DropFacts, dropsMax, judgeDrops, noDrops } from './drop-guard.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function facts(change: Partial<DropFacts> & { readonly gone?: number }): DropFacts {
  const surplus = numbers(change.gone ?? 0).map((partition) => ({ partition, complete: true }));
  return { ring: 'a', isNamed: true, leaving: [], surplus, files: 100, ...change };
}

describe('allowed drops', () => {
  test('are five percent of the files, and at least eight', () => {
    expect([0, 8, 100, 159, 160, 180, 4_096].map(dropsMax)).toEqual([8, 8, 8, 8, 8, 9, 204]);
  });

  test('need no move up to the limit, and beyond it all are held', () => {
    expect(judgeDrops(noDrops, facts({ gone: dropsFreeMax })).held).toEqual([]);
    expect(judgeDrops(noDrops, facts({ gone: 9 })).held).toEqual(numbers(9));
  });

  test('can be all files of a device if moves explain them, under any later ring', () => {
    let note = judgeDrops(noDrops, facts({ ring: 'proposed', leaving: numbers(100) }));
    note = judgeDrops(note, facts({ ring: 'initializing', leaving: numbers(100) }));
    note = judgeDrops(note, facts({ ring: 'finalized', gone: 100 }));
    expect(note).toMatchObject({ held: [] });
    note = judgeDrops(note, facts({ ring: 'later', gone: 50 }));
    expect(note).toMatchObject({ held: [], explained: numbers(50) });
  });

  test('are not explained by a move that was cancelled', () => {
    let note = judgeDrops(noDrops, facts({ ring: 'initializing', leaving: numbers(20) }));
    note = judgeDrops(note, facts({ ring: 'cancelled' }));
    expect(judgeDrops(note, facts({ ring: 'mistake', gone: 20 })).held).toEqual(numbers(20));
  });

  test('of a device outside the ring are only those that it saw leave by a move', () => {
    const surplus = [0, 1].map((partition) => ({ partition, complete: partition === 0 }));
    const unnamed = { isNamed: false, surplus, files: 2 };
    expect(judgeDrops(noDrops, facts(unnamed)).held).toEqual([0, 1]);
    const saw = judgeDrops(noDrops, facts({ ring: 'moving', leaving: [0], surplus }));
    expect(judgeDrops(saw, facts(unnamed)).held).toEqual([1]);
  });

  test('need a confirmation if a new address takes the device out of the judged ring', () => {
    const note = judgeDrops(noDrops, facts({}));
    const unnamed = facts({ isNamed: false, gone: 2, files: 2 });
    const held = judgeDrops(note, unnamed);
    expect(held.held).toEqual([0, 1]);
    const free = { ...held, explained: held.held, held: [] };
    expect(judgeDrops(free, unnamed).held).toEqual([]);
  });

  test('include all files that were never complete', () => {
    const surplus = numbers(50).map((partition) => ({ partition, complete: false }));
    expect(judgeDrops(noDrops, facts({ surplus })).held).toEqual([]);
  });
});

describe('held drops', () => {
  const held = judgeDrops(noDrops, facts({ ring: 'mistake', gone: 20 }));

  test('stay held under the same ring, and the note does not change', () => {
    expect(judgeDrops(held, facts({ ring: 'mistake', gone: 20 }))).toBe(held);
  });

  test('are forgotten under a ring that gives the partitions back', () => {
    expect(judgeDrops(held, facts({ ring: 'mended' })).held).toEqual([]);
  });

  test('stay held under a further ring that still takes the partitions away', () => {
    const more = judgeDrops(held, facts({ ring: 'further', gone: 22 }));
    expect(more.held).toEqual(numbers(22));
  });

  test('are explained once an operator confirms them, under further rings too', () => {
    const free = { ...held, explained: held.held, held: [] };
    const note = judgeDrops(free, facts({ ring: 'mistake', gone: 20 }));
    expect(judgeDrops(note, facts({ ring: 'further', gone: 10 })).held).toEqual([]);
  });
});

test('held files are always present, complete, without a move, and above the limit', () => {
  const surplus = fc.uniqueArray(fc.record({ partition: fc.nat(60), complete: fc.boolean() }), {
    selector: ({ partition }) => partition,
  });
  const step = fc.record({
    ring: fc.constantFrom('a', 'b', 'c'),
    isNamed: fc.boolean(),
    leaving: fc.uniqueArray(fc.nat(60)),
    surplus,
    files: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let note = noDrops;
      for (const one of steps) {
        const isNew = note.ring !== one.ring;
        note = judgeDrops(note, one);
        const complete = one.surplus.filter((file) => file.complete || !one.isNamed);
        const here = new Set(complete.map(({ partition }) => partition));
        for (const partition of note.held) {
          expect(here.has(partition)).toBe(true);
          expect(note.explained).not.toContain(partition);
        }
        const unexplained = [...here].filter((partition) => !note.explained.includes(partition));
        if (!isNew && one.isNamed) continue;
        const most = one.isNamed ? dropsMax(one.files) : 0;
        const wanted = unexplained.length > most ? unexplained.length : 0;
        expect(note.held).toHaveLength(wanted);
        expect(judgeDrops(note, one)).toBe(note);
      }
    }),
  );
});
