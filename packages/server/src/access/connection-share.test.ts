// Tests that connections and partition files together fit the descriptors of the process.
import { redisConnectionsMax } from '@ringwright/base/limits';
import { httpConnectionsMax } from '@ringwright/base/limits-rings';
import { descriptorsOfOwn } from '@ringwright/base/limits-store';
import { affordableFiles } from '@ringwright/partition/open-store';
import { expect, test } from 'vitest';
import { connectionShare } from './connection-share.ts';

const memoryBytes = 24 * 2 ** 30;

test('files and connections leave descriptors for the log', () => {
  for (const descriptors of [512, 1_024, 4_096, 20_000, 40_000]) {
    for (const ports of [1, 3]) {
      const machine = { memoryBytes, descriptors };
      const allowed = ports * httpConnectionsMax + redisConnectionsMax;
      const connections = connectionShare(ports, machine) * allowed;
      const left = descriptors - 4 * affordableFiles(machine) - connections;
      expect(left, `${descriptors} descriptors, ${ports} ports`).toBeGreaterThan(descriptorsOfOwn);
      expect(connections).toBeGreaterThanOrEqual(16);
    }
  }
});

test('nothing is limited where descriptors are plentiful', () => {
  for (const descriptors of [65_536, Number.POSITIVE_INFINITY]) {
    expect(connectionShare(3, { memoryBytes, descriptors })).toBe(1);
  }
});
