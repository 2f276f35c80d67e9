// A ring file can hold every accepted setting, so that no commit makes a file that cannot be read.
import { decodeRing, encodeRing } from '@ringwright/ring/file/ring-file';
import { firstRing } from '@ringwright/ring/first-ring';
import { saltBytesMax } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { checkPartitioner } from './setting-ranges.ts';

const salted = (bytes: number) => {
  const [prefix, suffix] = ['ab'.repeat(bytes), 'cd'.repeat(bytes)];
  return { kind: 'md5-shift', power: 1, prefix, suffix } as const;
};

test('the longest hash prefix and suffix are read back from the file', () => {
  const partitioner = salted(saltBytesMax);
  const partitions = checkPartitioner(partitioner);
  const table = [new Uint16Array(partitions)];
  const place = { region: 1, zone: 1, ip: '10.0.0.1', port: 6200, device: 'd0' };
  const devices = [{ id: 0, ...place, weight: 1, meta: '' }];
  const names = { keyspace: 'cities', cluster: 'test' };
  const ring = firstRing({ ...names, partitioner, partitions, replicas: 1, devices, table });
  expect(decodeRing(encodeRing(ring).bytes).ring).toEqual(ring);
});

test('a hash prefix and suffix one byte longer are refused before a ring is made', () => {
  expect(() => checkPartitioner(salted(saltBytesMax + 1))).toThrow('not at most 512 hex digits');
});
