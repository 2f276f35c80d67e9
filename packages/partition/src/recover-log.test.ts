// Tests that a start after a crash checkpoints no file, that another crash during or after it loses
// nothing, and that the running store then frees the log.
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  cutUnfinished,
  cutWals,
  logFiles,
  type Scratch,
  scratch,
  write,
} from '../test/support/scratch-store.ts';
import { PartitionWal } from './file/partition-wal.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

const PARTITIONS = 12;
/** So small segments that a replay takes several turns of four. */
const manySegments = { logSegmentBytesMax: 2_000, logSegmentsBehindMax: 100 };

/** Half of the partitions have a synced file, and half a new one. */
async function fillAndCrash(place: Scratch): Promise<{ image: Scratch; state: unknown }> {
  const first = await place.open();
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    await first.create('test', partition, 'ready');
    if (partition % 2 === 0) await first.write([write('old', 'synced', 1, partition)]);
  }
  await first.close();
  const store = await place.open(manySegments);
  for (let ms = 2; ms < 300; ms += 1) {
    await store.write([write(`k${(ms * 7) % 11}`, `v${ms}`, ms, ms % PARTITIONS)]);
  }
  const image = place.image();
  expect(logFiles(image.directory).length).toBeGreaterThan(8);
  return { image, state: stateOf(store) };
}

function stateOf(store: Store): unknown {
  const all = store.list('test').map((info) => ({ ...info, incarnation: 'any' }));
  return all.sort((one, other) => one.partition - other.partition);
}

/** Takes everything that is not synced, in whole or in part. */
function losePower(image: Scratch, share: number): void {
  cutWals(image.directory, (bytes) => Math.floor(bytes * share));
  cutUnfinished(image.directory);
}

test('a start checkpoints no file and keeps the log, so a power loss loses nothing', async () => {
  await using place = scratch();
  const { image, state } = await fillAndCrash(place);
  const checkpoints = vi.spyOn(PartitionWal.prototype, 'checkpoint');
  onTestFinished(() => checkpoints.mockRestore());
  const before = logFiles(image.directory);
  const store = await image.open(manySegments);
  expect(checkpoints).not.toHaveBeenCalled();
  expect(logFiles(image.directory).slice(0, -1)).toEqual(before);
  expect(stateOf(store)).toEqual(state);
  for (const share of [0, 0.3, 0.7]) {
    await using second = image.image();
    losePower(second, share);
    expect(stateOf(await second.open()), `${share} of the WALs`).toEqual(state);
  }
});

test('a power loss in the middle of a replay loses nothing', async () => {
  await using place = scratch();
  const { image, state } = await fillAndCrash(place);
  const torn: Scratch[] = [];
  let steps = 0;
  const store = await openStore({
    directory: image.directory,
    newIncarnation: randomUUID,
    onStep: ({ doing }) => {
      if (!doing.startsWith('replaying')) return;
      steps += 1;
      if (steps % 9 === 0) torn.push(image.image());
    },
  });
  await store.close();
  expect(torn.length).toBeGreaterThan(2);
  for (const [index, second] of torn.entries()) {
    losePower(second, index / torn.length);
    expect(stateOf(await second.open()), `after step ${9 * (index + 1)}`).toEqual(state);
  }
});

test('the store that was started frees the log without another write', async () => {
  await using place = scratch();
  const { image, state } = await fillAndCrash(place);
  const store = await image.open({ ...manySegments, logSegmentsBehindMax: 1 });
  await vi.waitFor(() => expect(logFiles(image.directory)).toHaveLength(1), { timeout: 20_000 });
  await using second = image.image();
  losePower(second, 0);
  expect(stateOf(await second.open())).toEqual(state);
  expect(stateOf(store)).toEqual(state);
});
