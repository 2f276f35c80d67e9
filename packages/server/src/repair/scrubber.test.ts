// The scrubber on a fake clock: its order, its rate, and what it reports.
import { CodedError } from '@ringwright/base/coded-error';
import {
  filesCheckMs,
  scrubBytesPerSecondMax,
  scrubCycleMs,
  scrubFirstMs,
} from '@ringwright/base/limits-store';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { expect, test } from 'vitest';
import { Scrubber } from './scrubber.ts';

test('the scrubber reads each file once a cycle, within the rate, and reports damage', async () => {
  let [nowMs, looks] = [0, 0];
  const read: { partition: number; ms: number }[] = [];
  const damaged: number[] = [];
  const lostRings: string[] = [];
  const errors: unknown[] = [];
  const reasons = [
    new CodedError('DISK_FULL', 'no room'),
    new Error('the process beside the store ended with SIGKILL'),
  ];
  const scrubber = new Scrubber({
    store: {
      list: () =>
        [3, 0, 1, 2].map((partition) => ({ keyspace: 'test', partition }) as PartitionInfo),
      damaged: () => [],
      takeSuspects: () => [],
      checkOpenFiles: () => {
        looks += 1;
        const log = looks === 2 ? new CodedError('LOG_DAMAGED', '1.log is gone') : null;
        return Promise.resolve({ partitions: 3, lost: [], log, errors: [] });
      },
      scrub: (_, partition) => {
        // Dropped since the cycle began, which is no failure.
        if (partition === 3) return Promise.reject(new CodedError('PARTITION_ABSENT', 'none'));
        read.push({ partition, ms: nowMs });
        if (partition === 2) return Promise.reject(reasons.shift() ?? new Error());
        const findings = partition === 1 ? [{ code: 'RECORD_DAMAGED', message: 'x' }] : [];
        return Promise.resolve({ bytes: scrubBytesPerSecondMax * 10, findings });
      },
    },
    rings: { storeLost: () => Promise.resolve(looks === 3 ? ['test'] : []) },
    onRingsLost: (keyspaces) => lostRings.push(...keyspaces),
    monotonicMs: () => nowMs,
    nowMs: () => 1_000_000 + nowMs,
    onLogLost: (error) => errors.push(error),
    onFindings: (_, partition) => damaged.push(partition),
    onError: (error) => errors.push(error),
  });
  for (; nowMs < scrubCycleMs + scrubFirstMs + 120_000; nowMs += 1_000) await scrubber.tick();
  expect(read.map(({ partition }) => partition)).toEqual([2, 1, 0, 2, 1, 0]);
  expect(read[0]?.ms).toBe(scrubFirstMs);
  expect((read[2]?.ms ?? 0) - (read[1]?.ms ?? 0)).toBe(10_000);
  expect((read[1]?.ms ?? 0) - (read[0]?.ms ?? 0)).toBe(60_000);
  expect(damaged).toEqual([1, 1]);
  expect(lostRings).toEqual(['test']);
  expect(errors).toHaveLength(3);
  const logLoss = { ms: 1_000_000 + 2 * filesCheckMs, reason: '1.log is gone' };
  expect(scrubber.logLoss, 'kept for the status').toEqual(logLoss);
  expect(looks).toBe(nowMs / filesCheckMs - 1);
});

test('a file in which a read found damage is scrubbed at once, outside the cycle', async () => {
  const suspects = [{ keyspace: 'test', partition: 7 }];
  const damaged: number[] = [];
  const scrubber = new Scrubber({
    store: {
      ...{ list: () => [], damaged: () => [], takeSuspects: () => suspects.splice(0) },
      checkOpenFiles: () => Promise.reject(new Error('not yet')),
      scrub: () =>
        Promise.resolve({ bytes: 1, findings: [{ code: 'RECORD_DAMAGED', message: 'x' }] }),
    },
    rings: { storeLost: () => Promise.resolve([]) },
    ...{ monotonicMs: () => 0, nowMs: () => 0, onRingsLost: () => undefined },
    onLogLost: () => undefined,
    onFindings: (_, partition) => damaged.push(partition),
    onError: () => undefined,
  });
  await scrubber.tick();
  await scrubber.tick();
  expect(damaged).toEqual([7]);
});
