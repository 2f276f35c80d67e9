// What a rollout says of bytes: those that crossed the network, and those that lay there already.
import { expect, test } from 'vitest';
import { addLoaded, noTotals, totalsText } from './rollout-totals.ts';

const split = { bytes: 0, verified: 0, filled: { slots: 6, bytes: 8_830_000 } };
const joined = { ...split, bytes: 2_000_000, verified: 3, filled: { slots: 0, bytes: 0 } };

test('a split was filled where its parents lie, and copied nothing', () => {
  const totals = { ...noTotals, ...addLoaded(noTotals, split), moved: 6, copyMs: 4_100 };
  expect(totalsText(totals)).toEqual({
    all: '6 slots filled from the files of their parents',
    lines: ['8.83 MB filled in 4.1 s on the devices of the parents: nothing crossed the network'],
  });
});

test('moves that follow are told apart from it', () => {
  const totals = { ...noTotals, ...addLoaded(split, joined), moved: 9 };
  expect(totalsText(totals)).toEqual({
    all: '3 slots moved, 3 copies verified; 6 slots filled from the files of their parents',
    lines: [
      '2.00 MB copied',
      '8.83 MB filled on the devices of the parents: nothing crossed the network',
    ],
  });
});

test('a removal that moves nothing', () => {
  const told = totalsText({ ...noTotals, versions: 1 });
  expect(told).toEqual({ all: '1 new version, no slot moved', lines: [] });
});
