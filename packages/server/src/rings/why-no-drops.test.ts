// Which beacons and forks stop drops, and which do not.
import { expect, test } from 'vitest';
import { freshnessOf } from '../trust/freshness.ts';
import { requireDropsAllowed } from './why-no-drops.ts';

const ids = ['a', 'b'].map((letter) => letter.repeat(64)) as [string, string];
const [id, other] = ids;
const beacon = (over: object) => ({
  ...{ cluster: 'c', epoch: 1, keyspace: 'cities', version: 7, id },
  ...{ issuedMs: 1_000, expiresMs: 2_000, ...over },
});
const active = { epoch: 1, version: 7, id };
const at = (nowMs: number, over: object = {}) => freshnessOf(beacon(over), active, nowMs);
const later = { epoch: 2, version: 3, id: other };
const alarm = {
  ...{ keyspace: 'cities', version: 7, id, other, from: '', atMs: 1 },
  settled: null,
};

test.each([
  ['no beacon at all allows drops', null, freshnessOf(null, active, 9_000), null],
  ['a fresh beacon allows drops', null, at(1_999), null],
  ['an expired beacon stops drops', null, at(2_000), 'BEACON_EXPIRED'],
  ['a newer version stops drops', null, at(1_500, { version: 8, id: other }), 'BEACON_EXPIRED'],
  ['an older version allows drops', null, at(1_500, { version: 6, id: other }), null],
  ['a lower version of a later epoch stops drops', null, at(1_500, later), 'BEACON_EXPIRED'],
  ['a beacon of an ended epoch allows drops', null, freshnessOf(beacon({}), later, 1_500), null],
  ['a fork stops drops, even with a fresh beacon', alarm, at(1_500), 'RING_FORK'],
])('%s', (...[, fork, freshness, code]) => {
  const asked = () => requireDropsAllowed('cities', { alarm: fork, freshness });
  if (code === null) expect(asked).not.toThrow();
  else expect(asked).toThrow(expect.objectContaining({ code }));
});
