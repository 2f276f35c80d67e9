// Tests a revert that is repeated while its moves are in flight, as after a lost connection.
import { CodedError } from '@ringwright/base/coded-error';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('a revert keeps moves in flight to its target version and cancels others', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 64 --replicas 2');
  const devices = [1, 2, 3, 4].map((n) => `r1z${n}-127.0.0.1:${n}/sdb 1`).join(' ');
  await tool.json(`add kv ${devices}`);
  await tool.json('commit kv -m first');
  await notePush(tool.folder, 'kv');
  await tool.json('set-weight kv d0 2');
  await tool.json('commit kv -m heavier --direct --yes --override because');
  const first = await tool.json('revert kv 1 -m back --override because');
  expect(first).toMatchObject({ changed: true, cancelled: 0 });
  for (const typed of ['revert kv 1', 'revert kv 1 -m back --override because']) {
    expect(await tool.json(typed)).toMatchObject({
      ...{ changed: false, version: first['version'], moved: 0, inFlight: first['moved'] },
    });
    const told = await tool.text(typed);
    expect(told).toMatch(/^kv: \d+ moves lead there already$/m);
    expect(told).toMatch(/^Next: ring-builder rollout kv$/m);
  }
  const forth = await tool.json('revert kv 2 -m forth --override because');
  expect(forth).toMatchObject({ changed: true, cancelled: first['moved'] });
});

test('the commands of a refused revert split the only hash interval first', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitioner hash-intervals --partitions 2 --replicas 1');
  await tool.json('add kv r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit kv -m first');
  for (const change of ['split kv 0 --at .75', 'merge kv 1 2', 'merge kv 3 4']) {
    await tool.json(change);
    await tool.json('commit kv -m changed');
  }
  // The merges left one interval, whose border is none of the first version.
  for (let step = 0; step < 9; step += 1) {
    const error: unknown = await tool.json('revert kv 1').catch((one: unknown) => one);
    if (!(error instanceof CodedError)) throw error;
    const [command] = (error.details as { changes: string[] }).changes;
    if (command === undefined) break;
    await tool.json(command.replace('ring-builder ', ''));
    await tool.json('commit kv -m back');
  }
  const { intervals } = await tool.json<{ intervals: { end: number }[] }>('table kv');
  expect(intervals.map(({ end }) => end)).toEqual([0, 2 ** 31]);
});

test('a revert to a version with more replicas leaves out its pins and zones', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 4 --replicas 3');
  const devices = [1, 2, 3, 4].map((n) => `r1z${n}-127.0.0.1:${n}/sdb 1`).join(' ');
  await tool.json(`add kv ${devices}`);
  for (const change of ['set kv --zones-min 3', 'pin kv 0 --on d0 d1 d2', 'pin kv 1 --on d0']) {
    await tool.json(change);
  }
  await tool.json('commit kv -m first');
  for (const change of ['unpin kv all', 'set kv --zones-min 0', 'set kv --replicas 2']) {
    await tool.json(change);
  }
  await tool.json('commit kv -m fewer --override because');
  await tool.json('revert kv 1 -m back --override because');
  const { state } = await readVersion(`${tool.folder}/rings`, 'kv', 'head');
  expect(state).toMatchObject({ pins: [{ partition: 1, on: [0], off: [] }], zonesMin: 2 });
  await tool.json('set-weight kv d0 2');
  expect(await tool.json('plan kv')).toMatchObject({ changed: true });
});
