// A server that was started at another address than its ring says finds its device by its key.
import { generateKeyPairSync } from 'node:crypto';
import { spkiOf } from '@ringwright/ring/trust/public-key';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { whyUnnamed } from './active-ring.ts';

const { privateKey: key } = generateKeyPairSync('ed25519');
const plain = servedRing({ power: 0, devices: 3 });
const devices = plain.devices.map((device) =>
  device?.id === 1 ? { ...device, key: spkiOf(key) } : device,
);
const identity = { name: 'sdb', address: { ip: '10.0.0.9', port: 6200 }, born: 'b' };

test('the reason for a key at another address names both addresses and the commands', () => {
  const why = whyUnnamed({ ring: { ...plain, devices }, self: null }, { key, identity });
  expect(why).toContain(`names the disk of this server as d1, ${plain.devices[1]?.ip}`);
  expect(why).toContain('it was started as 10.0.0.9:6200/sdb');
  expect(why).toContain('set-device cities d1 --ip 10.0.0.9 --port 6200, commit and push');
});

test('there is no reason if the ring names the device or does not know its key', () => {
  expect(whyUnnamed({ ring: { ...plain, devices }, self: 1 }, { key, identity })).toBeNull();
  expect(whyUnnamed({ ring: plain, self: null }, { key, identity })).toBeNull();
});
