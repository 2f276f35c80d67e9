// Tests the advice for moves whose records are on devices that are gone: when force is named, and
// for which partitions.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { wellOf } from '../../../test/support/ring-status.ts';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { moveRows, type StatusByDevice } from './move-rows.ts';
import { hasSources, stuckAdvice } from './stuck-moves.ts';

// Partition 0 is on d0 d1 d2, and d0's slot goes to d3; partition 1 on d1 d2 d3, d1's goes to d0.
const [, ring] = moveVersions(servedRing(), [
  { partition: 0, replica: 0, from: 0, to: 3 },
  { partition: 1, replica: 0, from: 1, to: 0 },
]);
const unreachable = new CodedError('PEER_UNREACHABLE', 'it cannot be reached');

function advised(away: readonly number[], removed: readonly number[] = []) {
  const statuses: StatusByDevice = new Map(
    [0, 1, 2, 3].map((id) => [id, away.includes(id) ? unreachable : wellOf(ring, id)]),
  );
  return stuckAdvice({ ring, removed }, moveRows(ring, statuses), statuses);
}

test('a slot has sources if its old device or enough other holders answer', () => {
  const filled = (...away: number[]): boolean =>
    hasSources(ring, { partition: 0, from: 0 }, new Set(away));
  expect([filled(), filled(1, 2), filled(0)]).toEqual([true, true, true]);
  expect(filled(0, 1)).toBe(false);
});

test('no force is advised while the moves may finish by themselves', () => {
  expect(advised([])).toBeNull();
  expect(advised([1])).toBeNull();
});

test('the advice without two of three holders is to start them or to force the move', () => {
  const found = advised([1, 2]);
  expect(found?.isForGood).toBe(false);
  expect(found?.command).toBe('moves cities force 1 --reason TEXT');
  expect(found?.text).toBe(
    'moves need complete files of d1 d2: start what is down; if it is gone for good, ' +
      'ring-builder moves cities force 1 --reason TEXT && ring-builder rollout cities continues ' +
      'with the records left and loses the writes that only those devices had',
  );
  expect(advised([1, 2], [1, 2])?.isForGood).toBe(true);
  expect(advised([0, 1, 2])?.command).toBe('moves cities force all --reason TEXT');
});
