// Why a server holds files back: what it says of the drops, else of the damaged files.
import { expect, test } from 'vitest';
import { wellOf } from '../../../../test/support/ring-status.ts';
import { servedRing } from '../../../../test/support/served-ring.ts';
import type { RingStatus } from '../../servers/server-status.ts';
import { heldDrops } from './held-drops.ts';

function whyOf(said: Partial<RingStatus>): string[] {
  const status = { ...wellOf(servedRing(), 1), ...said };
  return heldDrops([{ address: '127.0.0.1:6201', said: status }]).map(({ why }) => why);
}

test('drops have the reason of a drop, quarantines alone that of a damaged file', () => {
  const draining = [{ partition: 1, reason: 'no move explains it' }];
  const damaged = [{ partition: 2, reason: 'data.db is gone' }];
  expect(whyOf({ held: { drops: 1, quarantines: 7 }, draining, damaged })).toEqual([
    'no move explains it',
  ]);
  expect(whyOf({ held: { drops: 0, quarantines: 7 }, damaged })).toEqual(['data.db is gone']);
  expect(whyOf({ held: { drops: 0, quarantines: 7 } })).toEqual(['']);
  expect(whyOf({})).toEqual([]);
});
