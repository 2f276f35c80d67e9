// A commit whose moves do not fit the disks that its servers tell of is refused, or logged.

import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { appendPush } from '@ringwright/repository/append-push';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { filesOf } from '../../../test/support/small-repository.ts';
import type { RingStatus } from '../servers/server-status.ts';

interface Said {
  readonly freeBytes: number;
  readonly totalBytes?: number;
  /** What it says of its ring; without it, it says to be no device. */
  readonly ring?: RingStatus;
  /** Bytes of each file; without it, it is of a release that tells those of the values alone. */
  readonly fileBytes?: number;
}

/** One server that says it has every partition, each with values of 1,000 bytes. */
async function serverWith(said: () => Said): Promise<number> {
  const server = createServer((_, response) => {
    const sizes = Array.from({ length: 8 }, (__, partition) => [partition, 1_000]);
    const { ring, fileBytes, ...disk } = said();
    const files = fileBytes && sizes.map(([partition]) => [partition, fileBytes]);
    const rings = ring === undefined ? [] : [ring];
    response.end(
      JSON.stringify({ address: 'here', ready: true, rings, refusals: [], disk, sizes, files }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port; // it listens
}

const entry = { time: '2026-11-21T02:00:00.000Z', user: 'ada', message: '', details: {} };

test('too little room stops a commit, unless somebody says why it will do', async () => {
  let free = diskReserveBytes;
  const port = await serverWith(() => ({ freeBytes: free }));
  const { folder, json, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  const rings = `${folder}/rings`;
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  const device = (name: string): string => `r1z1-127.0.0.1:${port}/${name}`;
  await json(`add cities ${device('a')} 1`);
  await json('commit cities -m first');
  const { ring, id } = await readVersion(rings, 'cities', 'head');
  const before = (await readLog(rings, 'cities')).length;
  const place = { rings, ring: 'cities' };
  const pushed = { version: ring.version, id };
  const time = '2026-11-21T02:00:00.000Z';
  await appendPush(place, pushed, { time, user: 'ada', message: 'pushed', details: {} });
  expect(await readLog(rings, 'cities')).toHaveLength(before + 1);
  await json(`add cities ${device('b')} 1`);
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
  await json(`add cities ${device('c')} 1`);
  expect(await json('commit cities -m third')).toMatchObject({ version: 3 });
});

test('room is needed for files, which have more bytes than small values', async () => {
  const said = { freeBytes: diskReserveBytes + 100_000, fileBytes: 40_000 };
  const port = await serverWith(() => said);
  const { folder, json, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  await appendPush({ rings: `${folder}/rings`, ring: 'cities' }, pushed, entry);
  await json(`add cities r1z1-127.0.0.1:${port}/b 1`);
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

test('moves of later waves need room too, also when the first wave is empty', async () => {
  const port = await serverWith(() => ({ freeBytes: diskReserveBytes }));
  const { folder, json, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 24');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  await appendPush({ rings: `${folder}/rings`, ring: 'cities' }, pushed, entry);
  await json(`add cities r1z1-127.0.0.1:${port}/b 1`);
  const plan = await json<{ moved: number; movesLeft: number; traffic: object }>('plan cities');
  expect(plan).toMatchObject({ moved: 0, movesLeft: 4, traffic: { bytes: 4_000 } });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  await json('commit cities -m second --overfill soon-larger');
  // What the plan has shown, named; and devices that have no move.
  const listed = await json<{ later: object[][]; movesLeft: number }>('moves cities list');
  expect([listed.later.flat().length, listed.movesLeft]).toEqual([4, 4]);
  expect(await refusal('moves cities pause d99')).toEqual({ exit: 3, code: 'MOVE_UNKNOWN' });
  expect(await refusal('moves cities cancel d99')).toEqual({ exit: 3, code: 'MOVE_UNKNOWN' });
});

test('a disk that is smaller than what stays free: no reason is asked for', async () => {
  const totalBytes = diskReserveBytes - 1;
  const port = await serverWith(() => ({ freeBytes: totalBytes, totalBytes }));
  const { folder, json, text, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  await appendPush({ rings: `${folder}/rings`, ring: 'cities' }, pushed, entry);
  await json(`add cities r1z1-127.0.0.1:${port}/b 1`);
  const plan = await text('plan cities');
  expect(plan).toMatch(/helps: a larger disk, or ring-builder remove cities d1$/m);
  expect(plan).toMatch(/^Next: ring-builder remove cities d1$/m);
  expect(plan).not.toContain('--overfill');
  expect(await refusal('commit cities -m no')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  await json('remove cities d1');
  expect(await json('plan cities')).toMatchObject({ moved: 0, warnings: [] });

  // Once moves are on their way there, these come first.
  await json('unstage cities');
  await json(`add cities r1z1-127.0.0.1:${port}/b 1`);
  await json('commit cities -m second --overfill soon-larger');
  await json('set-weight cities d1 2');
  expect(await text('plan cities')).toMatch(/^Next: ring-builder moves cities cancel d1$/m);
});

test('twice as many partitions need room for all children beside their parents', async () => {
  let free = diskReserveBytes + 7_999;
  const port = await serverWith(() => ({ freeBytes: free }));
  const { folder, json, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  await json('create cities --partitions 8 --replicas 1 --partitioner hash-intervals');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  await appendPush({ rings: `${folder}/rings`, ring: 'cities' }, pushed, entry);
  await json('set cities --partition-power 4');
  const before = await filesOf(folder);
  const devices = [{ id: 0, bytesIn: 8_000, freeBytes: free, fits: false }];
  expect(await json('plan cities')).toMatchObject({ traffic: { devices } });
  expect(await refusal('commit cities -m second')).toEqual({ exit: 5, code: 'DISK_TOO_SMALL' });
  expect(await filesOf(folder)).toEqual(before);
  free += 1;
  expect(await json('commit cities -m second')).toMatchObject({ version: 2 });
});

test('a revert asks for room too, but not for files that are there still', async () => {
  const held: { ring?: RingStatus } = {};
  const port = await serverWith(() => ({ freeBytes: diskReserveBytes, ...held }));
  const { folder, json, text, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  const rings = `${folder}/rings`;
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  await appendPush({ rings, ring: 'cities' }, pushed, entry);
  await json(`add cities r1z1-127.0.0.1:${port}/b 1`);
  await json('commit cities -m second --direct --yes --override empty');
  expect(await text('revert cities 1')).toMatch(/^Next: .*revert cities 1 .* --overfill REASON$/m);
  const refused = { exit: 5, code: 'DISK_TOO_SMALL' };
  expect(await refusal('revert cities 1 -m back --override all')).toEqual(refused);
  const { ring } = await readVersion(rings, 'cities', 'head');
  expect(ring.version).toBe(2);

  // The server of the device that gets them has them all.
  held.ring = wellOf(ring, 0);
  expect(await text('revert cities 1')).not.toContain('--overfill');
  delete held.ring;
  await json('revert cities 1 -m back --override all --overfill soon-larger');
  expect((await readLog(rings, 'cities')).at(-1)?.details).toMatchObject({
    ...{ revert: 1, overfilled: [0], overfillReason: 'soon-larger' },
  });
});
