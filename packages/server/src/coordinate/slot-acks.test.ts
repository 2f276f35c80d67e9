// Tests the count of acknowledged slots, also against its definition: a slot has acknowledged when
// all its devices have.
import type { Slot } from '@ringwright/ring/slots-of';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slotDevices, tallySlots } from './slot-acks.ts';

const joining: Slot = { replica: 2, device: 2, joiner: 9 };
const slots: readonly Slot[] = [
  { replica: 0, device: 0, joiner: null },
  { replica: 1, device: 1, joiner: null },
  joining,
];
const answers = (acks: Readonly<Record<number, boolean>>): Map<number, boolean> =>
  new Map(Object.entries(acks).map(([id, ok]) => [Number(id), ok]));

describe('a slot is in flight', () => {
  test.each([
    ['both its devices acknowledged', { 2: true, 9: true }, 1, 3],
    ['only its current device acknowledged', { 2: true }, 0, 3],
    ['only its joiner acknowledged', { 9: true }, 0, 3],
    ['its joiner failed', { 2: true, 9: false }, 0, 2],
    ['its current device failed', { 2: false, 9: true }, 0, 2],
    ['its joiner is slow and the other slots acknowledged', { 0: true, 1: true, 2: true }, 2, 3],
    [
      'both its devices acknowledged and all others failed',
      { 2: true, 9: true, 0: false, 1: false },
      1,
      1,
    ],
  ])('acknowledged and possible slots are right when %s', (...[, acks, acked, possible]) => {
    expect(tallySlots(slots, answers(acks))).toEqual({ acked, possible });
  });

  test('a write goes to every device once', () => {
    expect(slotDevices(slots)).toEqual([0, 1, 2, 9]);
    expect(slotDevices([joining, { replica: 3, device: 9, joiner: 2 }])).toEqual([2, 9]);
  });
});

test('the tally of any slots and answers matches the definition', () => {
  const slot = fc.record({
    replica: fc.nat(31),
    device: fc.nat(6),
    joiner: fc.option(fc.nat(6)),
  });
  const acks = fc.array(fc.tuple(fc.nat(6), fc.boolean()), { maxLength: 7 });
  fc.assert(
    fc.property(fc.array(slot, { maxLength: 6 }), acks, (some, pairs) => {
      const answered = new Map(pairs);
      const devicesOf = ({ device, joiner }: Slot): number[] =>
        joiner === null ? [device] : [device, joiner];
      const acked = some.filter((one) => devicesOf(one).every((id) => answered.get(id) === true));
      const lost = some.filter((one) => devicesOf(one).some((id) => answered.get(id) === false));
      expect(tallySlots(some, answered)).toEqual({
        acked: acked.length,
        possible: some.length - lost.length,
      });
    }),
  );
});
