// Tests failures of the commit log, and how it moves on to a new segment.
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { write } from '../../test/support/scratch-store.ts';
import { newPartition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { Checkpointer } from './checkpointer.ts';
import { CommitLog } from './commit-log.ts';
import type { WriteCall } from './log-batch.ts';
import { createSegment, listSegments, segmentFile } from './log-segment.ts';
import { storeLimits } from './store-limits.ts';

test('a log that cannot be written fails once and returns every waiting write', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const created = await createSegment(directory, 1);
  await created.handle.close();
  // Opened for reading only: the first append fails as on a broken disk.
  const handle = await open(segmentFile(directory, 1), 'r');
  const failures: unknown[] = [];
  const log = new CommitLog({
    directory,
    limits: storeLimits({ logBatchWritesMax: 1 }),
    segment: { ...created, handle },
    onDurable: () => {
      throw new Error('nothing became durable');
    },
    onRotate: () => {},
    onFailure: (error) => {
      failures.push(error);
    },
  });
  const partition = {
    ...newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' }),
    life: 'l',
  };
  const call: WriteCall = { outcomes: [], waiting: 3, resolve: () => {}, reject: () => {} };
  for (let index = 0; index < 3; index += 1) {
    log.append(write(`k${index}`, 'v', 1), { partition, call, index });
  }
  await log.drained();
  expect(failures).toHaveLength(1);
  expect(log.abandon().flatMap(({ entries }) => entries)).toHaveLength(3);
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a waiting batch takes no more writes once the log leaves its segment', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const durable: [segment: number, keys: string[]][] = [];
  const log = new CommitLog({
    directory,
    limits: storeLimits({}),
    segment: await createSegment(directory, 1),
    onDurable: ({ segment, entries }) => {
      durable.push([
        segment,
        entries.map((entry) => ('key' in entry ? String(entry.key) : 'change')),
      ]);
    },
    onRotate: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  const partition = {
    ...newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' }),
    life: 'l',
  };
  const call: WriteCall = { outcomes: [], waiting: 3, resolve: () => {}, reject: () => {} };
  const append = (key: string): void =>
    log.append(write(key, 'v', 1), { partition, call, index: 0 });
  append('under way');
  await setImmediate();
  append('waits');
  log.abandonSegment();
  append('later');
  await log.drained();
  expect(durable).toEqual([
    [1, ['under way']],
    [1, ['waits']],
    [2, ['later']],
  ]);
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a log whose write does not return takes no more writes until it does', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const log = new CommitLog({
    directory,
    limits: storeLimits({ logStallMs: 0 }),
    segment: await createSegment(directory, 1),
    onDurable: () => {},
    onRotate: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  const partition = {
    ...newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' }),
    life: 'l',
  };
  const call: WriteCall = { outcomes: [], waiting: 1, resolve: () => {}, reject: () => {} };
  expect(log.stall).toBeNull();
  log.append(write('k', 'v', 1), { partition, call, index: 0 });
  await setImmediate();
  expect(log.stall).toBe(`a write to ${segmentFile(directory, 1)} has not returned for 0 s`);
  expect(() => log.checkRoom(1)).toThrow('has not returned');
  await log.drained();
  expect(log.stall).toBeNull();
  log.checkRoom(1);
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

test('drained resolves when the log is abandoned', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const log = new CommitLog({
    directory,
    limits: storeLimits({}),
    segment: await createSegment(directory, 1),
    onDurable: () => {
      throw new Error('nothing was written');
    },
    onRotate: () => {},
    onFailure: () => {},
  });
  const partition = newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' });
  const call: WriteCall = { outcomes: [], waiting: 1, resolve: () => {}, reject: () => {} };
  log.append(write('key', 'v', 1), { partition, call, index: 0 });
  const drained = log.drained();
  expect(log.abandon()).toHaveLength(1);
  await drained;
  await setImmediate();
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a segment stays until the next one exists, even if nobody needs what it holds', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const log = new CommitLog({
    directory,
    limits: storeLimits({}),
    segment: await createSegment(directory, 1),
    onDurable: () => {},
    onRotate: () => {},
    onFailure,
  });
  const checkpointer = new Checkpointer({
    logDirectory: directory,
    log,
    partitions: () => [],
    files: { use: () => Promise.reject(new Error('no file is open')) as never },
    segmentsBehindMax: 1,
    onFailure,
    beforeRemoval: () => Promise.resolve(),
    finish: () => Promise.resolve(),
  });
  // The next segment cannot be created, as on a full disk.
  await mkdir(segmentFile(directory, 2));
  log.abandonSegment();
  const partition = newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' });
  const call: WriteCall = { outcomes: [], waiting: 1, resolve: () => {}, reject: () => {} };
  log.append(write('k', 'v', 1), { partition, call, index: 0 });
  checkpointer.segmentBegan();
  await log.drained();
  await checkpointer.stop();
  expect(failures).toHaveLength(1);
  expect(await listSegments(directory), 'a log in use has a segment').toContain(1);
  rmSync(directory, { recursive: true, force: true });
});

test('a segment that begins after a failure of the store causes no removal', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  for (const number of [1, 2]) await (await createSegment(directory, number)).handle.close();
  const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const checkpointInPool = (): Promise<boolean> => {
    entered.resolve();
    return gate.promise;
  };
  const file = { seq: 0, unflushed: 'nothing', checkpointInPool } as unknown as PartitionFile;
  const checkpointer = new Checkpointer({
    logDirectory: directory,
    log: { currentSegment: 2 },
    partitions: () => [],
    files: { use: () => file },
    segmentsBehindMax: 1,
    onFailure: (error) => {
      throw error;
    },
    beforeRemoval: () => Promise.resolve(),
    finish: () => Promise.resolve(),
  });
  const partition = newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' });
  const turn = checkpointer.request({ ...partition, file });
  await entered.promise;
  checkpointer.end();
  checkpointer.segmentBegan();
  gate.resolve(true);
  await turn;
  await checkpointer.stop();
  expect(await listSegments(directory)).toContain(1);
  rmSync(directory, { recursive: true, force: true });
});

test('nothing overtakes a batch that takes several turns: no later batch, no segment', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const first = Promise.withResolvers<void>();
  const segments: number[] = [];
  const log = new CommitLog({
    directory,
    limits: storeLimits({ logBatchWritesMax: 1 }),
    segment: await createSegment(directory, 1),
    onDurable: ({ segment }) => {
      segments.push(segment);
      return segments.length === 1 ? first.promise : undefined;
    },
    onRotate: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  const partition = newPartition({ keyspace: 'test', partition: 0, incarnation: 'i' });
  const call: WriteCall = { outcomes: [], waiting: 2, resolve: () => {}, reject: () => {} };
  const append = (key: string): void =>
    log.append(write(key, 'v', 1), { partition, call, index: 0 });
  append('applied in several turns');
  log.abandonSegment();
  append('in the next segment');
  await vi.waitUntil(async () => (await listSegments(directory)).includes(2));
  let isDrained = false;
  const drained = log.drained().then(() => (isDrained = true));
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  expect([segments, log.currentSegment, isDrained]).toEqual([[1], 1, false]);
  first.resolve();
  await drained;
  expect([segments, log.currentSegment]).toEqual([[1, 2], 2]);
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});
