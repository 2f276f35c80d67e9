// Tests a revert that is repeated while its moves are in flight, as after a lost connection.
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
