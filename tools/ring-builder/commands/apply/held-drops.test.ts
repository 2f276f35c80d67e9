// Tests the reasons shown for files that servers hold back, and how a refused confirmation is
// reported.
import { CodedError } from '@ringwright/base/coded-error';
import { confirmDrops } from '@ringwright/wire/trash';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { wellOf } from '../../../../test/support/ring-status.ts';
import { servedRing } from '../../../../test/support/served-ring.ts';
import type { RingStatus } from '../../servers/server-status.ts';
import { confirmHeldDrops, heldDrops, refusalLine } from './held-drops.ts';

function whyOf(said: Partial<RingStatus>): string[] {
  const status = { ...wellOf(servedRing(), 1), ...said };
  return heldDrops([{ address: '127.0.0.1:6201', ringStatus: status }]).map(({ why }) => why);
}

test('held drops show the reason of a drop, quarantines alone that of a damaged file', () => {
  const draining = [{ partition: 1, reason: 'no move explains it' }];
  const damaged = [{ partition: 2, reason: 'data.db is gone' }];
  expect(whyOf({ held: { drops: 1, quarantines: 7 }, draining, damaged })).toEqual([
    'no move explains it',
  ]);
  expect(whyOf({ held: { drops: 0, quarantines: 7 }, damaged })).toEqual(['data.db is gone']);
  expect(whyOf({ held: { drops: 0, quarantines: 7 } })).toEqual(['']);
  expect(whyOf({})).toEqual([]);
});

test('a server that refuses, or whose answer is not understood, is named', async () => {
  const held = { device: 1, ringId: 'a'.repeat(64), drops: 1, quarantines: 0, why: '' };
  const linesOf = async (answer: () => object): Promise<string[]> => {
    const says = { request: confirmDrops.request, answer };
    const { port } = await fakeServer([[confirmDrops.method, says]]);
    const gone = await confirmHeldDrops([{ ...held, address: `127.0.0.1:${port}` }], 'cities');
    return gone.map((one) => refusalLine(one).replace(`${port}`, 'PORT'));
  };
  const refuse = () => {
    throw new CodedError('DROPS_DIFFER', 'others wait now');
  };
  expect(await linesOf(refuse)).toEqual(['127.0.0.1:PORT refused: others wait now']);
  const [line] = await linesOf(() => ({ later: 1 }));
  expect(line).toMatch(/^127.0.0.1:PORT: answer to confirm-drops: /);
});
