import { expect, test } from 'vitest';
import { people, signed, signedRoot, testKey } from '../../../../test/support/signing.ts';
import { type Beacon, beaconPayload, openBeacon, printBeacon } from './beacon.ts';
import { newestRoot } from './trust-chain.ts';

const trust = newestRoot([signedRoot()], null);
const nowMs = Date.parse('2026-11-21T00:00:00Z');
const beacon: Beacon = {
  cluster: 'test',
  epoch: 1,
  keyspace: 'cities',
  version: 7,
  id: 'a'.repeat(64),
  issuedMs: nowMs,
  expiresMs: nowMs + 600_000,
};
const bytesOf = (document: Beacon, by = people.beacon): Buffer =>
  printBeacon(signed(beaconPayload(document), by));

test('a beacon of a trusted key is opened, also when it has run out', () => {
  expect(openBeacon(bytesOf(beacon), [trust], nowMs)).toEqual(beacon);
  expect(openBeacon(bytesOf(beacon), [trust], nowMs + 86_400_000)).toEqual(beacon);
});

const refused = [
  ['of a ring key', bytesOf(beacon, people.ring)],
  ['of nobody', bytesOf(beacon, [])],
  ['of a stranger', bytesOf(beacon, [testKey('mallory')])],
  ['of another cluster', bytesOf({ ...beacon, cluster: 'other' })],
  ['of another epoch', bytesOf({ ...beacon, epoch: 2 })],
  ['from the future', bytesOf({ ...beacon, issuedMs: nowMs + 61_000 })],
  ['that lives for ever', bytesOf({ ...beacon, expiresMs: nowMs + 10 ** 10 })],
  ['that is not JSON', Buffer.from('beacon')],
  ['that is endless', Buffer.alloc(10_000, ' ')],
  ['that was edited', Buffer.from(bytesOf(beacon).toString().replace(':7', ':8'))],
] as const;

test.for(refused)('a beacon %s is refused', ([, bytes]) => {
  expect(() => openBeacon(bytes, [trust], nowMs)).toThrow(
    expect.objectContaining({ code: 'BEACON_REFUSED' }),
  );
});
