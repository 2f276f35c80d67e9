// A commit whose moves do not fit the disks that its servers tell of is refused, or logged.

import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { appendPush } from '@ringwright/repository/append-push';
import { readLog } from '@ringwright/repository/read-log';
import { readVersion } from '@ringwright/repository/read-version';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';

/** One server that says it has every file, each of 1,000 bytes, and `free()` on its disk. */
async function serverWith(free: () => number): Promise<number> {
  const server = createServer((_, response) => {
    const sizes = Array.from({ length: 8 }, (__, partition) => [partition, 1_000]);
    const disk = { freeBytes: free() };
    const said = { address: 'here', ready: true, rings: [], refusals: [], disk, sizes };
    response.end(JSON.stringify(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port; // it listens
}

test('too little room stops a commit, unless somebody says why it will do', async () => {
  let free = diskReserveBytes;
  const port = await serverWith(() => free);
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

test('moves of later waves need room too, also when the first wave is empty', async () => {
  const port = await serverWith(() => diskReserveBytes);
  const { folder, json, refusal } = await ringBuilderHere();
  onTestFinished(() => rm(folder, { recursive: true }));
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 24');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  const pushed = await json<{ version: number; id: string }>('commit cities -m first');
  const entry = { time: '2026-11-21T02:00:00.000Z', user: 'ada', message: '', details: {} };
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
