// Tests copies of a file while checkpoints write to it. The oracle is the child that is built from
// the copy: the build refuses rows that do not match the count and the digest of the file. The
// folder is audited when the test ends.
import { setImmediate } from 'node:timers/promises';
import { copyRoundsMax } from '@ringwright/base/limits-copies';
import { seededRandom } from '@ringwright/base/random';
import type { RangesPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { afterEach, expect, test, vi } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { ChangedPages } from '../file/changed-pages.ts';
import { PartitionWal } from '../file/partition-wal.ts';
import { SideProcess } from '../side/side-process.ts';
import type { Store } from '../store.ts';

const KEYS = 2_000;

afterEach(() => vi.restoreAllMocks());

const partitioner: RangesPartitioner = {
  kind: 'ranges',
  partitions: 2,
  starts: ['m'],
  ids: [1, 2],
};

async function opened(store: Store): Promise<void> {
  await store.create('test', 0, 'ready');
  await store.create('test', 1, 'filling');
}

function adopt(store: Store) {
  const children = [{ partition: 1, incarnation: store.info('test', 1)?.incarnation ?? '' }];
  return store.children.adopt({ keyspace: 'test', partitioner, parents: [0], children });
}

const keyOf = (index: number): string => `a/${index}`;

function writesOf(ms: number, indices: readonly number[]) {
  return indices.map((index) => write(keyOf(index), `${ms} ${'x'.repeat(1_000)}`, ms));
}

/** Lets the first copy end only after a checkpoint has written pages. */
function untilCheckpoint() {
  const noted = vi.spyOn(ChangedPages.prototype, 'note');
  const copy = Reflect.get(SideProcess.prototype, 'copyPages') as SideProcess['copyPages'];
  return vi.spyOn(SideProcess.prototype, 'copyPages').mockImplementationOnce(async function during(
    this: SideProcess,
    work,
  ) {
    await copy.call(this, work);
    while (noted.mock.calls.length === 0) await setImmediate();
  });
}

test.each([1, 2, 3])('pages that checkpoints write are copied again (seed %i)', async (seed) => {
  await using place = scratch();
  const first = await place.open();
  await opened(first);
  await first.write(writesOf(1, Array.from(Array(KEYS).keys())));
  // The close moves all rows into the file.
  await first.close();
  // With these limits, a few writes cause a checkpoint.
  const store = await place.open({ walBytesMax: 64 * 1024, copyHeldBytesMax: 256 * 1024 });
  const random = seededRandom(seed);
  await store.write(writesOf(2, [0]));
  const copies = untilCheckpoint();
  const state = { ended: false };
  const pass = adopt(store).finally(() => {
    state.ended = true;
  });
  for (let ms = 3; !state.ended; ms += 1) {
    await store.write(
      writesOf(
        ms,
        Array.from({ length: 20 }, () => 1 + random.below(KEYS - 1)),
      ),
    );
  }
  await pass;
  const pages = copies.mock.calls.map(([work]) => work.pages?.length ?? null);
  expect(pages[0], 'the first round copies the whole file').toBeNull();
  expect(pages[1], 'the second round copies the changed pages').toBeGreaterThan(0);
  expect(store.info('test', 1)).toMatchObject({ rows: KEYS });
  expect(textOf(store, keyOf(0), 1)).toMatch(/^2 x/);
});

test('a checkpoint during the last round causes another round', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write(writesOf(1, [1]));
  const held = vi.spyOn(PartitionWal.prototype, 'stopCheckpoint');
  const again = vi.spyOn(SideProcess.prototype, 'copyPages');
  held.mockImplementationOnce(function breaking(this: PartitionWal) {
    queueMicrotask(() => this.checkpoint('PASSIVE'));
    return this.stopCheckpoint();
  });
  await adopt(store);
  const rounds = again.mock.calls.filter(([{ to }]) => !to.endsWith('-wal'));
  expect(rounds.map(([{ pages }]) => pages === null)).toEqual([true, false]);
  expect(textOf(store, keyOf(1), 1)).toMatch(/^1 x/);
});

/** Runs a checkpoint in every last round, so that another round is needed. */
function neverHeld() {
  const hold = Reflect.get(PartitionWal.prototype, 'stopCheckpoint') as () => number;
  return vi.spyOn(PartitionWal.prototype, 'stopCheckpoint').mockImplementation(function breaking(
    this: PartitionWal,
  ) {
    queueMicrotask(() => this.checkpoint('PASSIVE'));
    return hold.call(this);
  });
}

test('a file that checkpoints write to without end is copied by this process', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write(writesOf(1, [1]));
  const held = neverHeld();
  await adopt(store);
  expect(held).toHaveBeenCalledTimes(copyRoundsMax);
  expect(textOf(store, keyOf(1), 1)).toMatch(/^1 x/);
});

test('a file whose changed pages cannot be recorded is copied by this process', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write(writesOf(1, [1]));
  const held = neverHeld();
  const note = Reflect.get(ChangedPages.prototype, 'note') as ChangedPages['note'];
  vi.spyOn(ChangedPages.prototype, 'note').mockImplementation(function gone(
    this: ChangedPages,
    wal,
    frames,
  ) {
    return note.call(this, `${wal}.not-there`, frames);
  });
  await adopt(store);
  expect(held).toHaveBeenCalledOnce();
  expect(textOf(store, keyOf(1), 1)).toMatch(/^1 x/);
});
