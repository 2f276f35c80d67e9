// Tests a line whose splits differ from those of a server: settle refuses it and sends no
// settle message.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { ringHolder } from '../../../../test/support/ring-holder.ts';

/** Starts a fake server and creates two folders with the same first version of its ring. */
async function twoFolders() {
  const { port, has } = await ringHolder();
  const ours = await ringBuilderHere();
  const theirs = await ringBuilderHere();
  await ours.json('create cities --partitioner ranges --replicas 1 --min-part-hours 0');
  await ours.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await ours.json('commit cities -m first');
  await cp(join(ours.folder, 'rings'), join(theirs.folder, 'rings'), { recursive: true });
  return { port, has, ours, theirs };
}

test('settle refuses a line that lacks the splits of a server, and sends nothing', async () => {
  const { port, has, ours, theirs } = await twoFolders();
  const heads = async () =>
    Promise.all(
      [ours, theirs].map(({ folder }) => readVersion(join(folder, 'rings'), 'cities', 'head')),
    );
  await ours.json('set-device cities d0 --meta ours');
  await ours.json('commit cities -m ours');
  await theirs.json('split cities 0 --at m');
  await theirs.json('commit cities -m theirs');
  const [our, their] = await heads();

  has.active = their!;
  for (const typed of ['settle cities -m ours', 'settle cities -m ours --yes']) {
    const error: unknown = await ours.answer(typed).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'RING_FOREIGN',
      exit: 5,
      message: expect.stringContaining('so this history cannot win'),
      hint: expect.stringContaining(
        `restore cities --from 127.0.0.1:${port} --replace, then settle`,
      ),
      details: { theirs: their!.ring.version, servers: [`127.0.0.1:${port}`] },
    });
  }
  expect(has.told).toEqual([]);

  // The line with the split may follow the line without it.
  has.active = our!;
  await theirs.answer('settle cities -m theirs --yes');
  expect(has.told).toEqual(['settle']);
});

test('if both lines have splits, neither can win, and settle names the remaining way', async () => {
  const { port, has, ours, theirs } = await twoFolders();
  for (const [tool, key] of [
    [ours, 'm'],
    [theirs, 'f'],
  ] as const) {
    await tool.json(`split cities 0 --at ${key}`);
    await tool.json('commit cities -m split');
  }
  has.active = await readVersion(join(theirs.folder, 'rings'), 'cities', 'head');
  const error: unknown = await ours.answer('settle cities -m ours --yes').catch((one) => one);
  expect(error).toMatchObject({
    code: 'RING_FOREIGN',
    message: expect.stringContaining('so neither can win'),
    hint: expect.stringMatching(
      /restore cities --from [^;]* --rings OTHER.*archive-data cities.*; save those of all other rings too.*; stop .*restore-data cities/,
    ),
    details: { neither: true, servers: [`127.0.0.1:${port}`] },
  });
  expect(has.told).toEqual([]);
});
