// Import of rings in JSON: the documented form is read, and every mistake in it is refused.
import { CodedError } from '@ringwright/base/coded-error';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { expect, test } from 'vitest';
import { importJson } from './import-json.ts';

const devices = [1, 2, 3].map((zone) => ({
  zone,
  ip: `10.0.0.${zone}`,
  port: 6200,
  device: 'sdb',
  weight: 100,
}));
const document = {
  partitioner: { kind: 'murmur3-mod', partitions: 3 },
  devices: [...devices.slice(0, 2), null, ...devices.slice(2)],
  table: [
    [0, 1, 3],
    [1, 3],
  ],
};
const names = { ring: 'cities', cluster: undefined };
const read = (changes: object) => importJson(JSON.stringify({ ...document, ...changes }), names);

test('a minimal document with partitioner, devices and table is read', () => {
  const { ring, state } = read({});
  expect(ring).toMatchObject({ keyspace: 'cities', cluster: 'default', version: 1, partitions: 3 });
  expect(ring?.table.map((row) => [...row])).toEqual(document.table);
  expect(ring?.replicas).toBeCloseTo(5 / 3);
  expect(auditRing(ring!)).toEqual([]);
  expect(state.devices[3]).toEqual({ ...devices[2], id: 3, region: 1, meta: '', state: 'active' });
  expect(state).toMatchObject({ minPartHours: 0, overload: 0, replicas: 5 / 3 });
});

test('a document with settings and extra fields but no table is read', () => {
  const extra = { rack: 7 };
  const list = [{ ...devices[0], region: 2, meta: 'x', extra }];
  const settings = { replicas: 1, minPartHours: 24, overload: 0.1, cluster: 'west' };
  const { ring, state } = read({ devices: list, table: undefined, ...settings });
  expect(ring).toBeNull();
  expect(state).toMatchObject({ ...settings, devices: [{ id: 0, region: 2, meta: 'x', extra }] });
  expect(importJson(JSON.stringify(document), { ring: 'a', cluster: 'b' }).state.cluster).toBe('b');
});

test.each<[string, object]>([
  ['partitioner', { partitioner: { kind: 'crc16' } }],
  ['partitioner', { partitioner: undefined }],
  ['partitions is 4', { partitions: 4 }],
  ['has "colour", which is unknown', { colour: 'red' }],
  ['devices.0', { devices: [{ ...devices[0], weight: -1 }] }],
  ['devices.1 has id 0', { devices: [devices[0], { ...devices[1], id: 0 }] }],
  ['table.0 has 2 slots', { table: [[0, 1]].concat(document.table) }],
  ['table.0 is not a list', { table: ['0,1,3', [1, 3]] }],
  ['table.0.1 is 2', { table: [[0, 2, 3]] }],
  ['table.0.1 is 65537', { table: [[0, 65_537, 3]] }],
  ['table.0.1 is "1"', { table: [[0, '1', 3]] }],
  ['table.0.0 is -1', { table: [[-1, 1, 3]] }],
  ['table.1 has 0 slots', { table: [[0, 1, 3], []] }],
  ['table has rows of 3, 2 slots, but 2', { replicas: 2 }],
  ['table', { table: Array.from({ length: 33 }, () => [0, 1, 3]) }],
  ['replicas is missing', { table: undefined }],
  ['moves', { moves: [{ partition: 0 }] }],
])('a mistake is refused, and the message names it: %s', (place, changes) => {
  const work = () => read(changes);
  expect(work).toThrow(CodedError);
  expect(work).toThrow(place);
  expect(work).toThrow(/^ring in JSON/);
});

test('text that is not JSON is refused', () => {
  expect(() => importJson('{', names)).toThrow(/not JSON/);
});
