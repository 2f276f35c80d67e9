// Converts one device of Swift and back: its replication fields are unchanged.
import { expect, test } from 'vitest';
import { deviceOfSwift, swiftFieldsOf } from './swift-device.ts';

const plain = { id: 0, region: 1, zone: 2, ip: '10.0.0.1', port: 6200, device: 'sdb', meta: '' };
const swift = { ...plain, weight: 1, replication_ip: '10.0.0.1', replication_port: 6200 };

test.each([
  ['none of its own', swift, {}],
  [
    'another network',
    { ...swift, replication_ip: '10.1.0.1' },
    { replication: { ip: '10.1.0.1', port: 6200 } },
  ],
  [
    'another port',
    { ...swift, replication_port: 6300 },
    { replication: { ip: '10.0.0.1', port: 6300 } },
  ],
  ['a port as a text', { ...swift, replication_port: '6300' }, { extra: expect.anything() }],
  ['a null', { ...swift, replication_ip: null }, { extra: expect.anything() }],
])('replication address: %s', (_, fields, wanted) => {
  const device = deviceOfSwift(fields, 0);
  expect(device).toEqual({ ...plain, weight: 1, ...wanted });
  expect(Object.fromEntries(swiftFieldsOf(device!))).toEqual(fields);
});

test('an old ring with the address among the extra fields is exported unchanged', () => {
  const extra = { replication_ip: '10.1.0.1', replication_port: 6300 };
  const fields = Object.fromEntries(swiftFieldsOf({ ...plain, weight: 1, extra }));
  expect(fields).toEqual({ ...swift, ...extra });
});
