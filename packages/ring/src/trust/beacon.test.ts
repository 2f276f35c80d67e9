// Tests which beacons are opened and which are refused.
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

test('a beacon of a trusted key is opened, also after it has expired', () => {
  expect(openBeacon(bytesOf(beacon), [trust], nowMs)).toEqual(beacon);
  expect(openBeacon(bytesOf(beacon), [trust], nowMs + 86_400_000)).toEqual(beacon);
});

test('a beacon from the future is refused with the difference of the clocks', () => {
  const bytes = bytesOf({ ...beacon, issuedMs: nowMs + 7_200_000 });
  expect(() => openBeacon(bytes, [trust], nowMs)).toThrow(/issued it is 7200 s ahead of the clock/);
});

const refused = [
  ['signed by a ring key', bytesOf(beacon, people.ring)],
  ['without a signature', bytesOf(beacon, [])],
  ['signed by an unknown key', bytesOf(beacon, [testKey('mallory')])],
  ['of another cluster', bytesOf({ ...beacon, cluster: 'other' })],
  ['of another epoch', bytesOf({ ...beacon, epoch: 2 })],
  ['from the future', bytesOf({ ...beacon, issuedMs: nowMs + 61_000 })],
  ['that is valid for too long', bytesOf({ ...beacon, expiresMs: nowMs + 10 ** 10 })],
  ['that is not JSON', Buffer.from('beacon')],
  ['that has too many bytes', Buffer.alloc(10_000, ' ')],
  ['that was edited', Buffer.from(bytesOf(beacon).toString().replace(':7', ':8'))],
] as const;

test.for(refused)('a beacon %s is refused', ([, bytes]) => {
  expect(() => openBeacon(bytes, [trust], nowMs)).toThrow(
    expect.objectContaining({ code: 'BEACON_REFUSED' }),
  );
});
