// Tests the extra fields of devices: the ring file keeps them, and those that it could not keep
// unchanged are refused.
import { expect, test } from 'vitest';
import { sampleRing } from '../test/support/sample-ring.ts';
import { auditRing } from './audit/audit-ring.ts';
import type { DeviceExtra } from './device.ts';
import { deviceSchema } from './device-fields.ts';
import { diffRings } from './diff-rings.ts';
import { decodeRing, encodeRing } from './file/ring-file.ts';
import type { Ring } from './ring.ts';

const plain = sampleRing({ power: 3, replicas: 2, devices: 4 });

function withExtra(extra: DeviceExtra): Ring {
  const devices = plain.devices.map((device) => (device?.id === 2 ? { ...device, extra } : device));
  return { ...plain, devices };
}

test('extra fields survive the ring file, and change its id', () => {
  const ring = withExtra({ replication_ip: '10.9.9.9', tags: ['ß', { deep: [1.5, null, true] }] });
  const { bytes, id } = encodeRing(ring);
  expect(decodeRing(bytes).ring.devices).toEqual(ring.devices);
  expect(id).not.toBe(encodeRing(plain).id);
  expect(auditRing(ring)).toEqual([]);
  expect(diffRings(plain, ring).devicesChanged).toMatchObject([{ id: 2, fields: ['extra'] }]);
});

test('a replication address survives the ring file, and changes its id', () => {
  const replication = { ip: 'fd01::1', port: 6300 };
  const devices = plain.devices.map((device) => device && { ...device, replication });
  const ring = { ...plain, devices };
  const { bytes, id } = encodeRing(ring);
  expect(decodeRing(bytes).ring.devices).toEqual(devices);
  expect(id).not.toBe(encodeRing(plain).id);
  expect(auditRing(ring)).toEqual([]);
  expect(diffRings(plain, ring).devicesChanged[2]).toMatchObject({ fields: ['replication'] });
});

test('the order of extra members makes no difference', () => {
  const [a, b] = [withExtra({ x: 1, y: 2 }), withExtra({ y: 2, x: 1 })];
  expect(encodeRing(a).bytes).toEqual(encodeRing(b).bytes);
  expect(diffRings(a, b).devicesChanged).toEqual([]);
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const refused: [string, unknown][] = [
  ['is empty: omit it', {}],
  ['is not an object', ['a']],
  ["repeats the device's own weight", { weight: 1 }],
  ['has 602 bytes, at most 512', { a: 'x'.repeat(594) }],
  ['is nested deeper than 8', { a: nested(9) }],
  ['is nested deeper than 8', { a: JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) }],
  ['holds the number 9007199254740992', { a: 2 ** 53 }],
  ['holds the number Infinity', { a: Number.POSITIVE_INFINITY }],
  ['holds half of a surrogate pair', { a: '\ud800' }],
  ['has a member __proto__', JSON.parse('{"a":{"__proto__":1}}')],
];

test.each(refused)('extra fields are refused with the message: %s', (message, extra) => {
  const parsed = deviceSchema.safeParse({ ...plain.devices[0], extra });
  expect(parsed.error?.issues).toMatchObject([{ path: ['extra'], message }]);
});
