// What stops drops, and what does not.
import { expect, test } from 'vitest';
import { freshnessOf } from '../trust/freshness.ts';
import { requireDropsAllowed } from './why-no-drops.ts';

const ids = ['a', 'b'].map((letter) => letter.repeat(64)) as [string, string];
const [id, other] = ids;
const beacon = (over: object) => ({
  ...{ cluster: 'c', epoch: 1, keyspace: 'cities', version: 7, id },
  ...{ issuedMs: 1_000, expiresMs: 2_000, ...over },
});
const at = (nowMs: number, over: object = {}) =>
  freshnessOf(beacon(over), { version: 7, id }, nowMs);
const alarm = {
  ...{ keyspace: 'cities', version: 7, id, other, from: '', atMs: 1 },
  settled: null,
};

test.each([
  ['no beacon was ever sent', null, freshnessOf(null, { version: 7, id }, 9_000), null],
  ['a fresh one', null, at(1_999), null],
  ['it runs out', null, at(2_000), 'BEACON_EXPIRED'],
  ['a newer version exists', null, at(1_500, { version: 8, id: other }), 'BEACON_EXPIRED'],
  ['an older one was vouched for', null, at(1_500, { version: 6, id: other }), null],
  ['a fork, however fresh', alarm, at(1_500), 'RING_FORK'],
])('%s', (...[, fork, freshness, code]) => {
  const asked = () => requireDropsAllowed('cities', { alarm: fork, freshness });
  if (code === null) expect(asked).not.toThrow();
  else expect(asked).toThrow(expect.objectContaining({ code }));
});
