// Tests what a rollout says of a removed server that it could not reach.
import { expect, test } from 'vitest';
import { testKey } from '../../../../test/support/signing.ts';
import { returnLine } from './drop-gone-devices.ts';

test('a server whose key leaves with the ring is confirmed with a typed proof', () => {
  const named = { region: 1, zone: 1, ip: '10.0.0.9', port: 6200, device: 'a' };
  const { spki: key, id } = testKey('d1');
  const lineFor = (options: string, proving: object): string =>
    returnLine(
      { next: (command) => `ring-builder ${command}${options}` },
      { keyspace: 'cities', devices: [null, { id: 1, weight: 1, meta: '', ...named, ...proving }] },
      '10.0.0.9:6200',
    );
  const command = 'ring-builder trash cities confirm --to 10.0.0.9:6200';
  expect(lineFor('', { key })).toContain(
    `${command} (with --tls FILE add --ca FILE, with --tls own add --fingerprint ${id})`,
  );
  expect(lineFor('', {})).toMatch(new RegExp(`: ${command}$`));
  expect(lineFor(' --ca a.pem', { key })).toMatch(new RegExp(`: ${command} --ca a.pem$`));
});
