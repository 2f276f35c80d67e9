// Tests that a commit is refused, or logged with a reason, if its moves do not fit on the disks
// that the servers report.

import { diskReserveBytes } from '@ringwright/base/limits-store';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { filesOf } from '../../../test/support/small-repository.ts';
import { statusServer } from '../../../test/support/status-server.ts';
import type { RingStatus } from '../servers/server-status.ts';

interface Said {
  readonly freeBytes: number;
  readonly totalBytes?: number;
  /** The server's status of the ring; if absent, the server reports no ring. */
  readonly ring?: RingStatus;
  /** Bytes of each file; if absent, the server is of a release that reports only value bytes. */
  readonly fileBytes?: number;
}

/** A ring of one server, which reports values of 1,000 bytes in every partition. */
async function ringOnOne(said: () => Said, settings = '--min-part-hours 0') {
  const { port } = await statusServer(() => {
    const sizes = Array.from({ length: 8 }, (__, partition) => [partition, 1_000]);
    const { ring, fileBytes, ...disk } = said();
    const files = fileBytes && sizes.map(([partition]) => [partition, fileBytes]);
    return { rings: ring === undefined ? [] : [ring], disk, sizes, files };
  });
  const tool = await ringBuilderHere();
  const add = (name: string) => tool.json(`add cities r1z1-127.0.0.1:${port}/${name} 1`);
  await tool.json(`create cities --partitions 8 --replicas 1 ${settings}`);
  await add('a');
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  return { ...tool, rings: `${tool.folder}/rings`, add };
}

test('a commit without enough room is refused unless a reason is given', async () => {
  let free = diskReserveBytes;
  const { rings, add, json, refusal } = await ringOnOne(() => ({ freeBytes: free }));
  await add('b');
  const plan = await json<{ traffic: object; warnings: { code: string }[] }>('plan cities');
  expect(plan.traffic).toMatchObject({
    devices: [
      { id: 0, fits: true },
      { id: 1, fits: false },
    ],
  });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  expect((await readVersion(rings, 'cities', 'head')).ring.version).toBe(1);
  await json('commit cities -m second --overfill soon-larger');
  expect((await readLog(rings, 'cities')).at(-1)?.details).toMatchObject({
    ...{ overfilled: [1], overfillReason: 'soon-larger' },
  });
  free += 1_000_000;
  await add('c');
  expect(await json('commit cities -m third')).toMatchObject({ version: 3 });

  const drill = () => json<{ fits: boolean; survivors: object[] }>('drill cities device d2');
  expect(await drill()).toMatchObject({ fits: true });
  free = diskReserveBytes + 999;
  expect(await drill()).toMatchObject({ fits: false });
});

test('the required room is that of files, which are larger than small values', async () => {
  const said = { freeBytes: diskReserveBytes + 100_000, fileBytes: 40_000 };
  const { add, json, refusal } = await ringOnOne(() => said);
  await add('b');
  expect(await json('plan cities')).toMatchObject({
    traffic: {
      bytes: 160_000,
      devices: [
        { id: 0, peakBytes: 320_000 },
        { id: 1, bytesIn: 160_000, fits: false },
      ],
    },
  });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
});

test('moves of later waves need room too, even if the first wave is empty', async () => {
  const disk = { freeBytes: diskReserveBytes };
  const { add, json, refusal } = await ringOnOne(() => disk, '--min-part-hours 24');
  await add('b');
  const plan = await json<{ moved: number; movesLeft: number; traffic: object }>('plan cities');
  expect(plan).toMatchObject({ moved: 0, movesLeft: 4, traffic: { bytes: 4_000 } });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  await json('commit cities -m second --overfill soon-larger');
  // The list has the moves of the plan. An unknown device is refused, not shown as an empty list.
  const listed = await json<{ later: object[][]; movesLeft: number }>('moves cities list');
  expect([listed.later.flat().length, listed.movesLeft]).toEqual([4, 4]);
  for (const action of ['list', 'pause', 'cancel']) {
    const refused = await refusal(`moves cities ${action} d1 d99`);
    expect(refused, action).toEqual({ exit: 2, code: 'DEVICE_UNKNOWN' });
  }
  expect(await json('moves cities list d1')).toMatchObject({ moves: [], later: { length: 1 } });
});

test('a disk smaller than the reserve leads to a remove, not to a reason', async () => {
  const totalBytes = diskReserveBytes - 1;
  const disk = { freeBytes: totalBytes, totalBytes };
  const { add, json, text, refusal } = await ringOnOne(() => disk);
  await add('b');
  const plan = await text('plan cities');
  expect(plan).toMatch(/remedy: use a larger disk, or ring-builder remove cities d1$/m);
  expect(plan).toMatch(/^Next: ring-builder remove cities d1$/m);
  expect(plan).not.toContain('--overfill');
  expect(await refusal('commit cities -m no')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  await json('remove cities d1');
  expect(await json('plan cities')).toMatchObject({ moved: 0, warnings: [] });

  // If moves to the device are in flight, they are cancelled first.
  await json('unstage cities');
  await add('b');
  await json('commit cities -m second --overfill soon-larger');
  await json('set-weight cities d1 2');
  expect(await text('plan cities')).toMatch(/^Next: ring-builder moves cities cancel d1$/m);
});

test('doubling the partitions needs room for all children beside their parents', async () => {
  let free = diskReserveBytes + 7_999;
  const settings = '--partitioner hash-intervals';
  const { folder, json, refusal } = await ringOnOne(() => ({ freeBytes: free }), settings);
  await json('set cities --partition-power 4');
  const before = await filesOf(folder);
  const devices = [{ id: 0, bytesIn: 8_000, freeBytes: free, fits: false }];
  expect(await json('plan cities')).toMatchObject({ traffic: { devices } });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  expect(await filesOf(folder)).toEqual(before);
  free += 1;
  expect(await json('commit cities -m second')).toMatchObject({ version: 2 });
});

test('a revert needs room too, but not for files that the device still has', async () => {
  const held: { ring?: RingStatus } = {};
  const said = () => ({ freeBytes: diskReserveBytes, ...held });
  const { rings, add, json, text, refusal } = await ringOnOne(said);
  await add('b');
  await json('commit cities -m second --direct --yes --override empty');
  expect(await text('revert cities 1')).toMatch(/^Next: .*revert cities 1 .* --overfill REASON$/m);
  const refused = { exit: 5, code: 'DISK_TOO_SMALL' };
  expect(await refusal('revert cities 1 -m back --override all')).toEqual(refused);
  const { ring } = await readVersion(rings, 'cities', 'head');
  expect(ring.version).toBe(2);

  // The device that gets the partitions still has all of them.
  held.ring = wellOf(ring, 0);
  expect(await text('revert cities 1')).not.toContain('--overfill');
  delete held.ring;
  await json('revert cities 1 -m back --override all --overfill soon-larger');
  expect((await readLog(rings, 'cities')).at(-1)?.details).toMatchObject({
    ...{ revert: 1, overfilled: [0], overfillReason: 'soon-larger' },
  });
});
