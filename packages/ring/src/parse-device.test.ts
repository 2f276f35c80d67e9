// Tests devices and names as people type them: what is parsed, and which messages refuse the rest.
import { CodedError } from '@ringwright/base/coded-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDevice } from './device.ts';
import { isHost } from './device-fields.ts';
import { checkKeyspaceName } from './keyspace-name.ts';
import { parseDevice } from './parse-device.ts';

test.each([
  [
    'r1z2-10.0.0.1:6200/sdb',
    { region: 1, zone: 2, ip: '10.0.0.1', port: 6200, device: 'sdb', meta: '' },
  ],
  [
    'r0z0-host-7.example:80/d_rack 7_x',
    { zone: 0, ip: 'host-7.example', device: 'd', meta: 'rack 7_x' },
  ],
  ['r1z2-[fd00::1]:6200/sdb1', { ip: 'fd00::1', port: 6200, device: 'sdb1' }],
  ['r1z2-[FD00::A]:6200/sdb1', { ip: 'fd00::a' }],
  ['r1z2-10.0.0.1:6200/sdb_', { device: 'sdb', meta: '' }],
  ['r1z2-10.0.0.1:6200/my disk', { device: 'my disk' }],
  ['r1z2-[FE80::A%Eth0]:6200/sdb', { ip: 'fe80::a%Eth0' }],
  [
    'r1z1-10.0.0.1:6200R10.1.0.1:6300/sdb_meta',
    { port: 6200, replication: { ip: '10.1.0.1', port: 6300 }, device: 'sdb', meta: 'meta' },
  ],
  [
    'r1z1-[fd00::1]:6200R[FD01::A]:6300/sdb',
    { ip: 'fd00::1', replication: { ip: 'fd01::a', port: 6300 } },
  ],
  ['r1z1-Rack:6200RRoom:6300/sdb', { ip: 'Rack', replication: { ip: 'Room', port: 6300 } }],
])('%s is parsed', (text, wanted) => {
  expect(parseDevice(text)).toMatchObject(wanted);
});

test.each([
  ['', /is not of the form r<region>/],
  ['z2-10.0.0.1:6200/sdb', /is not of the form/],
  ['r1z2-10.0.0.1/sdb', /is not of the form/],
  ['r1z2-fd00::1:6200/sdb', /is not of the form/],
  ['r1z2-10.0.0.1:6200R/sdb', /is not of the form/],
  ['r1z2-10.0.0.1:6200R10.0.0.2/sdb', /is not of the form/],
  ['r1z2-10.0.0.1:6200R10.0.0.2:0/sdb', /invalid replication\.port/],
  ['r1z2-10.0.0.1:6200R10.0.0.256:6300/sdb', /invalid replication\.ip/],
  ['r1z2-10.0.0.1:6200R[10.0.0.2]:6300/sdb', /"10\.0\.0\.2" in brackets/],
  ['r1z2-[10.0.0.1]:6200/sdb', /"10\.0\.0\.1" in brackets/],
  ['r1z2-10.0.0.256:6200/sdb', /invalid ip/],
  ['r1z2-:6200/sdb', /invalid ip/],
  ['r1z2-10.0.0.1:0/sdb', /invalid port/],
  ['r1z2-10.0.0.1:65536/sdb', /invalid port/],
  ['r9999999999z2-10.0.0.1:6200/sdb', /invalid region/],
  ['r1z2-10.0.0.1:6200/', /invalid device/],
  ['r1z2-10.0.0.1:6200/a/b', /invalid device/],
  ['r1z2-10.0.0.1:6200/..', /invalid device/],
  ['r1z2-10.0.0.1:6200/ sdb', /invalid device .*: .* ends with a space/],
  ['r1z2-10.0.0.1:6200/s\tdb', /invalid device/],
  [`r1z2-10.0.0.1:6200/${'d'.repeat(129)}`, /invalid device/],
])('"%s" is refused', (text, message) => {
  expect(() => parseDevice(text)).toThrow(message);
  try {
    parseDevice(text);
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'DEVICE_INVALID', details: { given: text } });
  }
});

test('meta has a maximum length', () => {
  const device = 'r1z2-10.0.0.1:6200/sdb_';
  expect(parseDevice(`${device}${'m'.repeat(8_192)}`).meta).toHaveLength(8_192);
  expect(() => parseDevice(`${device}${'m'.repeat(8_193)}`)).toThrow(/invalid meta/);
});

test('parseDevice reads what formatDevice writes', () => {
  const address = {
    ip: fc.oneof(fc.ipV4(), fc.constantFrom('fd00::1', '::1', 'host_1', 'a.b-c.example', 'R')),
    port: fc.integer({ min: 1, max: 65_535 }),
  };
  const tiers = { region: fc.nat(), zone: fc.nat() };
  const device = fc.record(
    {
      ...{ ...tiers, ...address, replication: fc.record(address) },
      device: fc.stringMatching(/^[A-Za-z0-9.-]{1,20}$/).filter((name) => !/^\.{1,2}$/.test(name)),
    },
    { requiredKeys: ['region', 'zone', 'ip', 'port', 'device'] },
  );
  fc.assert(
    fc.property(device, (one) => {
      expect(parseDevice(formatDevice(one))).toEqual({ ...one, meta: '' });
    }),
  );
});

test('valid hosts are recognized, and invalid ones are not', () => {
  const good = ['10.0.0.1', '::1', 'fe80::1', 'a', 'node-1', 'node_1.local', 'A1.example'];
  good.push(
    'fe80::1%eth0',
    'fe80::1%3',
    'bücher.example',
    '例え.jp',
    'xn--4ca.example',
    'node.lan.',
  );
  const bad = [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '-a',
    'a-',
    'a b',
    'a/b',
    ':::',
    'a:1',
    '[::1]',
    'node..',
    '.',
    '10.0.0.1.',
    'fe80::1%',
    'fe80::1%a b',
    '10.0.0.1%eth0',
    'a\u202eb',
  ];
  expect([good.filter(isHost), bad.filter(isHost)]).toEqual([good, []]);
  expect(isHost('h'.repeat(255))).toBe(false);
});

test('valid keyspace names are accepted, and invalid ones are refused', () => {
  for (const name of ['a', '0', 'cities', 'object-1', 'a'.repeat(63)]) {
    expect(checkKeyspaceName(name)).toBe(name);
  }
  for (const name of ['', '-a', 'A', 'a_b', 'a/b', '..', 'a'.repeat(64), 'a\n', 'ä']) {
    expect(() => checkKeyspaceName(name)).toThrow(CodedError);
  }
});
