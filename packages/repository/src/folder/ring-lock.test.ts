// The lock of a ring folder, with claims of living and dead processes and with many writers.
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { author, filesOf, scratchRings } from '../../../../test/support/small-repository.ts';
import { ringFolder } from './ring-folder.ts';
import { lockOwner, withRingLock } from './ring-lock.ts';

async function claim(rings: string, owner: object): Promise<void> {
  await writeFile(join(rings, 'cities', '.lock-a'), JSON.stringify({ ...author, ...owner }));
}

test('the claim of a living process is respected, and its owner is named', async () => {
  const rings = await scratchRings();
  await claim(rings, { pid: process.pid, host: hostname() });
  const before = await filesOf(rings);
  const locked = withRingLock(ringFolder(rings, 'cities'), author, async () => 'done');
  await expect(locked).rejects.toMatchObject({
    code: 'LOCK_HELD',
    exit: 3,
    message: expect.stringContaining(`ada (process ${process.pid} on ${hostname()})`),
  });
  expect(await lockOwner(ringFolder(rings, 'cities'))).toMatchObject({ pid: process.pid });
  expect(await filesOf(rings)).toEqual(before);
});

test('the claim of a dead process is noticed and removed', async () => {
  const rings = await scratchRings();
  const dead = 2 ** 22 + 1;
  await claim(rings, { pid: dead, host: hostname() });
  await writeFile(join(rings, 'cities', `.tmp-.lock-${hostname()}-${dead}-1`), '{"pi');
  expect(await lockOwner(ringFolder(rings, 'cities'))).toBe(null);
  const locked = withRingLock(ringFolder(rings, 'cities'), author, async () => 'done');
  expect(await locked).toBe('done');
  expect([...(await filesOf(rings)).keys()]).toEqual([join(rings, 'cities', 'builder.json')]);
});

test('a claim of a dead process that a power failure emptied is removed', async () => {
  const rings = await scratchRings();
  const dead = 2 ** 22 + 1;
  await writeFile(join(rings, 'cities', `.lock-${hostname()}-${dead}-1`), '');
  const locked = withRingLock(ringFolder(rings, 'cities'), author, async () => 'done');
  expect(await locked).toBe('done');
  expect([...(await filesOf(rings)).keys()]).toEqual([join(rings, 'cities', 'builder.json')]);
});

test('an emptied claim of a living process, or of another host, is respected', async () => {
  for (const owner of [`${hostname()}-${process.pid}`, 'elsewhere-1']) {
    const rings = await scratchRings();
    const claimed = join(rings, 'cities', `.lock-${owner}-1`);
    await writeFile(claimed, '');
    const locked = withRingLock(ringFolder(rings, 'cities'), author, async () => 'done');
    await expect(locked).rejects.toMatchObject({
      code: 'LOCK_HELD',
      hint: expect.stringContaining(`rm ${claimed}`),
    });
  }
});

test('a claim that a host with a longer name is writing is kept', async () => {
  const rings = await scratchRings();
  const dead = 2 ** 22 + 1;
  const theirs = join(rings, 'cities', `.tmp-.lock-${hostname()}-${dead}-1234-1`);
  await writeFile(theirs, '{"pi');
  await withRingLock(ringFolder(rings, 'cities'), author, async () => 'done');
  expect([...(await filesOf(rings)).keys()]).toContain(theirs);
});

test('the lock never admits two writers at once', async () => {
  const rings = await scratchRings();
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  const folder = ringFolder(rings, 'cities');
  await Promise.all(Array.from({ length: 20 }, () => withRingLock(folder, author, work)));
  expect(most).toBe(1);
});
