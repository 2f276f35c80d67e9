// Tests what is shown, and which command is next, when nothing is in flight any more. No server
// answers.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { idOf, moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import type { Context } from '../cli/command.ts';
import { watchMoves } from './watch-moves.ts';

test('moves of the previous version are not shown beside the finished ones', async () => {
  const one = { partition: 2, replica: 0, from: 2, to: 1 };
  const [still, moving] = moveVersions(servedRing({ replicas: 2 }), [one]);
  const headOf = (ring: typeof still) =>
    ({ ring, id: idOf(ring), state: null }) as unknown as StoredVersion;
  const lines: string[] = [];
  const context = {
    nowMs: () => 0,
    show: (drawing: Parameters<Context['show']>[0]) => void lines.push(drawing.inLine()),
  } as unknown as Context;
  const watch = watchMoves(context, () => 1);
  await watch.look(headOf(moving), 'joiners copy');
  const after = { ...moving, version: moving.version + 1, moves: [] };
  watch.show(headOf(after), 'sending to the servers');
  expect(lines).toEqual([
    expect.stringMatching(/: joiners copy; 1 failed; 1 finished; partition 2: /),
    `cities version ${after.version}: sending to the servers; 1 finished`,
  ]);
});

test('rollout is not the next command if there is nothing to roll out', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 4 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:1/sd1 1');
  await tool.json('commit cities -m first');
  expect(await tool.text('moves cities pause all')).toContain('Next: ring-builder status cities');
});
