// Servers that answer here but are not connected: is the network the reason, or a missing key?
import { must } from '@ringwright/base/assert';
import { expect, test } from 'vitest';
import { servedRing } from '../../../test/support/served-ring.ts';
import { peerTroubles } from './peer-troubles.ts';
import type { Make, ServerReport } from './server-report.ts';

const make: Make = (kind, why, command) => ({ ring: 'cities', address: '', kind, why, command });
const [own, other] = ['127.0.0.1:6200', '127.0.0.1:6201'] as const;

const away = { address: other, connected: false };

/** What is wrong with a server that has no connection to another one, or is refused by it. */
function judge(tls: boolean, key?: string, peer: ServerReport['peers'][number] = away) {
  const ring = servedRing();
  const devices = ring.devices.map((device) => ({
    ...must(device, 'the ring has no hole'),
    ...(key !== undefined && { key }),
  }));
  const report = {
    address: own,
    peers: [peer],
    others: new Set([own, other]),
    demands: { trust: true, access: false, tls },
  };
  return peerTroubles(report, { keyspace: ring.keyspace, devices }, make);
}

test("servers that need each other's keys are apart until the ring names them", () => {
  expect(judge(true)).toMatchObject([
    {
      kind: 'apart',
      command: 'set-device cities all --ask-key',
      why: `it has no connection to ${other}, which answers here; the ring does not name their keys`,
      hint: 'apart: with --tls, servers connect only to servers whose keys the ring names',
    },
  ]);
});

test.each([
  ['with keys in the ring', true, 'KEY'],
  ['without TLS', false, undefined],
])('%s the network is to be checked', (_case, tls, key) => {
  const [trouble] = judge(tls, key);
  expect(trouble).toMatchObject({ kind: 'apart', command: 'servers cities' });
  expect(trouble?.hint).toContain('check the network');
});

test('a server that others refuse needs a token', () => {
  const peer = { address: other, connected: true };
  expect(judge(false, undefined, { ...peer, refuses: true })).toMatchObject([
    {
      kind: 'apart',
      command: 'access grant servers --peer --out FILE',
      why: expect.stringContaining(`${other} refuses its requests`),
    },
  ]);
  expect(judge(false, undefined, { ...peer, refuses: false })).toEqual([]);
  expect(judge(false, undefined, peer), 'an older release does not report it').toEqual([]);
});
