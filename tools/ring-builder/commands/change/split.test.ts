// split and merge as commands: staged, planned, committed where no server has the ring; bad ones
// are refused with both values, and change nothing.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { filesOf } from '../../../../test/support/small-repository.ts';

async function withRing(shape: string) {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json(`create cities ${shape} --replicas 2`);
  for (const n of [1, 2, 3]) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  await tool.json('commit cities -m first');
  return tool;
}

test('a split and a merge of one commit, and a plan that balances afterwards', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4');
  await tool.json('split cities 0 --parts 3');
  await tool.json('merge cities 5 6');
  const plan = await tool.json<{ warnings: { code: string }[] }>('plan cities');
  expect(plan.warnings.map(({ code }) => code)).toEqual(Array(2).fill('PARTITION_RESHAPED'));
  await tool.json('commit cities -m both');
  const { intervals } = await tool.json<{ intervals: { id: number }[] }>('table cities');
  expect(intervals.map(({ id }) => id)).toEqual([7, 1, 2, 3, 4]);
  await tool.json('set-weight cities d0 9');
  const { moves } = await tool.json<{ moves: { partition: number }[] }>('plan cities');
  expect(moves.length).toBeGreaterThan(0);
  await tool.json('commit cities -m heavier');
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});

const refused: readonly [shape: string, command: string, code: string][] = [
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at z', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at g', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at b b', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --parts 2', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'merge cities 0 2', 'MERGE_NOT_ADJACENT'],
  ['--partitioner ranges --boundaries g,n', 'merge cities 1 1', 'MERGE_NOT_ADJACENT'],
  ['--partitioner ranges --boundaries g,n', 'split cities 9 --at b', 'VALUE_OUT_OF_RANGE'],
  ['--partitions 8', 'split cities 1', 'RESHAPE_UNFIT'],
];

test.each(refused)('%s: %s is %s', async (...row) => {
  const [shape, command, code] = row;
  const tool = await withRing(shape);
  const before = await filesOf(tool.folder);
  await expect(tool.json(command)).rejects.toMatchObject({ code });
  expect(await filesOf(tool.folder)).toEqual(before);
});

test('a ring with a split keeps its replicas, and goes back across none', async () => {
  const tool = await withRing('--partitioner ranges');
  await tool.json('split cities 0 --at m');
  await tool.json('commit cities -m split');
  await expect(tool.json('revert cities 1')).rejects.toMatchObject({ code: 'RESHAPE_UNFIT' });
  await tool.json('set cities --replicas 3');
  await expect(tool.json('plan cities')).rejects.toMatchObject({ code: 'RESHAPE_UNFIT' });
});
