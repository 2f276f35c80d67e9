// Tests the totals that a rollout reports: bytes copied over the network, and bytes filled from
// local files.
import { expect, test } from 'vitest';
import { addLoaded, noTotals, totalsText } from './rollout-totals.ts';

const split = { bytes: 0, verified: 0, filled: { slots: 6, bytes: 8_830_000 } };
const joined = { ...split, bytes: 2_000_000, verified: 3, filled: { slots: 0, bytes: 0 } };

test('the totals of a split name filled slots and no copied bytes', () => {
  const totals = { ...noTotals, ...addLoaded(noTotals, split), moved: 6, copyMs: 4_100 };
  expect(totalsText(totals)).toEqual({
    all: '6 slots filled from the files of their parents',
    lines: ['8.83 MB filled in 4.1 s on the devices of the parents: nothing crossed the network'],
  });
});

test('the totals name copied moves and filled slots of a split separately', () => {
  const totals = { ...noTotals, ...addLoaded(split, joined), moved: 9 };
  expect(totalsText(totals)).toEqual({
    all: '3 slots moved, 3 copies verified; 6 slots filled from the files of their parents',
    lines: [
      '2.00 MB copied',
      '8.83 MB filled on the devices of the parents: nothing crossed the network',
    ],
  });
});

test('the totals of a removal without moves name only the new version', () => {
  const told = totalsText({ ...noTotals, versions: 1 });
  expect(told).toEqual({ all: '1 new version, no slot moved', lines: [] });
});
