// Tests what the next start finds after a copy took the place of a file and the store failed.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import module from 'node:module';
import { join } from 'node:path';
import { replaceOwnFile } from '@ringwright/node/durable-files';
import { expect, onTestFinished, test, vi } from 'vitest';
import { aroundRename } from '../../test/support/around-rename.ts';
import {
  copyPartition,
  cutWals,
  logFiles,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../../test/support/scratch-store.ts';
import { spyAround } from '../../test/support/spy-around.ts';
import { PartitionFile } from '../file/partition-file.ts';
import { SideProcess } from '../side/side-process.ts';
import type { Store } from '../store.ts';

/** Runs `before` and `after` around the next rename that switches CURRENT of partition 0. */
function aroundSwitch(before: () => Promise<void>, after: () => Promise<void>): void {
  aroundRename((_, to) => to.endsWith('/test/0/CURRENT'), { before, after });
}

const limits = { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0 };

/** Two stores whose partition 0 has rows; the target also has a partition 1. */
async function stores(from: Scratch, to: Scratch): Promise<[Store, Store]> {
  const [source, target] = [await from.openReady(), await to.openReady(limits)];
  await source.write([write('theirs', 'copied', 1)]);
  await target.create('test', 1, 'ready');
  await target.write([write('mine', 'kept', 2)]);
  return [source, target];
}

let ms = 100;

/** Begins a new segment. */
async function beginSegment(store: Store): Promise<void> {
  for (const _ of [1, 2]) await store.write([write('other', 'y'.repeat(5_000), (ms += 1), 1)]);
}

/** Expects in a store, opened after a power loss, what the target and the source had. */
async function expectAll(place: Scratch): Promise<void> {
  await using image = scratch(place.directory);
  cutWals(image.directory, () => 0);
  const reopened = await image.open();
  expect(reopened.damaged()).toEqual([]);
  for (const [key, text] of [
    ['theirs', 'copied'],
    ['mine', 'kept'],
    ['late', 'kept'],
  ] as const) {
    expect(textOf(reopened, key), key).toBe(text);
  }
}

const failed = { code: 'STORE_FAILED' };

test('a failed store removes no segment that the copy in use may need', async () => {
  await using from = scratch();
  // Not `await using`: the close of a failed store rejects.
  const to = scratch();
  const [source, target] = await stores(from, to);
  // Its first segments go, so that the next checkpoint of partition 1 finishes no file.
  const [first = ''] = logFiles(to.directory);
  while (logFiles(to.directory).includes(first)) await beginSegment(target);
  const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  aroundSwitch(
    async () => {
      const name = 'checkpointInPool';
      const { value } = Object.getOwnPropertyDescriptor(PartitionFile.prototype, name) ?? {};
      const slow = vi.spyOn(PartitionFile.prototype, name);
      onTestFinished(() => slow.mockRestore());
      slow.mockImplementation(async function (this: PartitionFile) {
        if (this.info().partition === 1) {
          entered.resolve();
          await gate.promise;
        }
        return Reflect.apply(value, this, []);
      });
      await target.write([write('late', 'kept', 3)]);
      await beginSegment(target);
      // The present file has the late row by now.
      await entered.promise;
    },
    () => Promise.reject(Object.assign(new Error('i/o error, fsync'), { code: 'EIO' })),
  );
  await expect(copyPartition(source, target)).rejects.toMatchObject(failed);
  gate.resolve();
  // Long enough for the checkpointer, which would need a few such writes.
  for (let i = 0; i < 20; i += 1) await replaceOwnFile(join(to.directory, 'any'), Buffer.alloc(1));
  await expect(target.close()).rejects.toMatchObject(failed);
  await expectAll(to);
  rmSync(to.directory, { recursive: true });
});

test.each([
  { change: 'deleted', content: null },
  { change: 'replaced', content: 'another file' },
])('a present file that is $change after the switch does not cost the copy', async (damage) => {
  await using from = scratch();
  const to = scratch();
  const [source, target] = await stores(from, to);
  const { incarnation = '' } = target.info('test', 0) ?? {};
  aroundSwitch(
    async () => void (await target.write([write('late', 'kept', 3)])),
    async () => {
      const file = join(to.directory, 'partitions/test/0', incarnation, 'data.db');
      rmSync(file);
      if (damage.content !== null) writeFileSync(file, damage.content);
      expect((await target.checkOpenFiles()).lost).toHaveLength(1);
    },
  );
  await expect(copyPartition(source, target)).rejects.toMatchObject(failed);
  await expect(target.close()).rejects.toMatchObject(failed);
  await expectAll(to);
  rmSync(to.directory, { recursive: true });
});

test('a state that only the line of a partition has is the state of the copy', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.openReady();
  await source.write([write('theirs', 'copied', 1)]);
  const target = await to.open();
  await target.create('test', 0, 'filling');
  onTestFinished(() => void vi.restoreAllMocks());
  let syncs = 0;
  spyAround(SideProcess.prototype, 'audit', {
    // The copy is not installed with the state that it was given for the audit.
    after: () => target.setState('test', 0, 'lost'),
  });
  spyAround(PartitionFile.prototype, 'checkpointInPool', {
    after: async () => {
      syncs += 1;
      // The first one is that of the source.
      if (syncs !== 2) return;
      await target.setState('test', 0, 'filling');
      await target.write([write('mine', 'kept', 2)]);
    },
  });
  await copyPartition(source, target);
  expect(syncs).toBe(2);
  for (const store of [target, await to.image().open()]) {
    expect(store.info('test', 0)).toMatchObject({ rows: 2, state: 'filling' });
  }
});

test('a copy whose folder cannot be synced beside the present file is removed', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  const home = join(to.directory, 'partitions/test/0');
  const before = readdirSync(home);
  const { open } = fs;
  const restore = (): void => {
    fs.open = open;
    module.syncBuiltinESMExports();
  };
  onTestFinished(restore);
  fs.open = (file, ...about) =>
    file === home
      ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
      : open(file, ...about);
  module.syncBuiltinESMExports();
  await expect(copyPartition(source, target)).rejects.toThrow('too many open files');
  restore();
  expect(readdirSync(home)).toEqual(before);
});
