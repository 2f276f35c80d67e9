// What `plan` says of moves and of risk, as people read it.
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

/** Three devices in `zones` and a fourth staged; servers know version 1. */
async function growing(zones: readonly [string, string, string, string]): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  const device = (n: number): string => `${zones[n - 1]}-10.0.0.${n}:6200/sdb 100`;
  await tool.json('create cities --partitions 16 --replicas 3 --min-part-hours 0');
  await tool.json(`add cities ${[1, 2, 3].map(device).join(' ')}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  await tool.json(`add cities ${device(4)}`);
  return tool;
}

test('--partitions lists in text what --json lists', async () => {
  const tool = await growing(['r1z1', 'r1z2', 'r1z3', 'r1z4']);
  const { moves } = await tool.json<{
    moves: { partition: number; replica: number; from: number; to: number }[];
  }>('plan cities --offline');
  expect(moves.length).toBe(12);
  const shown = await tool.text('plan cities --offline --partitions');
  const rows = [...shown.matchAll(/^ +(\d+) +(\d) {2}d(\d) r1z\d-\S+ {2}d(\d) r1z4-\S+$/gm)];
  const listed = rows.map(([, ...row]) => row.map(Number));
  expect(listed).toEqual(moves.map((one) => [one.partition, one.replica, one.from, one.to]));
  expect(await tool.text('plan cities --offline')).not.toContain('PARTITION');
});

test('a tier with one domain is no risk of this plan', async () => {
  const told = async (...zones: [string, string, string, string]): Promise<string[]> => {
    const shown = await (await growing(zones)).text('plan cities --offline');
    return [...shown.matchAll(/if one (\w+) fails/g)].map(([, tier = '']) => tier);
  };
  expect(await told('r1z1', 'r1z1', 'r1z1', 'r1z1')).toEqual([]);
  expect(await told('r1z1', 'r1z1', 'r1z2', 'r1z2')).toEqual(['zone']);
  expect(await told('r1z1', 'r1z1', 'r2z1', 'r2z1')).toEqual(['region', 'zone']);
});

test('--if refuses a plan beyond its limits, and a commit, which changes nothing', async () => {
  const tool = await growing(['r1z1', 'r1z2', 'r1z3', 'r1z4']);
  for (const command of ['plan cities --offline', 'commit cities -m grows']) {
    const refusal = await tool.refusal(`${command} --if moves<=11,risk=0`);
    expect(refusal).toMatchObject({ exit: 5, code: 'PLAN_OVER_LIMIT' });
  }
  expect(await tool.json('show cities')).toMatchObject({ version: 1 });
  const committed = await tool.json('commit cities -m grows --if moves<=12,risk=0');
  expect(committed).toMatchObject({ version: 2, moved: 12 });
});
