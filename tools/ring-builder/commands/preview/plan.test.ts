// Tests what `plan` says about moves, risk and limits, in text and in JSON.
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

/** Creates a ring of three devices with a staged fourth, in these zones. Servers know version 1. */
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

test('--partitions lists the same moves in text as --json does', async () => {
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

test('a tier with a single domain is not listed as a risk of the plan', async () => {
  const told = async (...zones: [string, string, string, string]): Promise<string[]> => {
    const shown = await (await growing(zones)).text('plan cities --offline');
    return [...shown.matchAll(/if one (\w+) fails/g)].map(([, tier = '']) => tier);
  };
  expect(await told('r1z1', 'r1z1', 'r1z1', 'r1z1')).toEqual([]);
  expect(await told('r1z1', 'r1z1', 'r1z2', 'r1z2')).toEqual(['zone']);
  expect(await told('r1z1', 'r1z1', 'r2z1', 'r2z1')).toEqual(['region', 'zone']);
});

test('--if refuses a plan or commit beyond its limits, and no version is created', async () => {
  const tool = await growing(['r1z1', 'r1z2', 'r1z3', 'r1z4']);
  for (const command of ['plan cities --offline', 'commit cities -m grows']) {
    const refusal = await tool.refusal(`${command} --if moves<=11,risk=0`);
    expect(refusal).toMatchObject({ exit: 5, code: 'PLAN_OVER_LIMIT' });
  }
  expect(await tool.json('show cities')).toMatchObject({ version: 1 });
  const committed = await tool.json('commit cities -m grows --if moves<=12,risk=0');
  expect(committed).toMatchObject({ version: 2, moved: 12 });
});

test('a plan of millions of slots is announced, also for the first version', async () => {
  const lines: string[] = [];
  const tool = await ringBuilderHere({ tell: (line) => lines.push(line) });
  await tool.json('create cities --partition-power 20 --replicas 3');
  // Refused before the work: there are no devices.
  expect(await tool.refusal('plan cities --offline')).toMatchObject({ exit: 2 });
  expect(lines).toContain('planning 3145728 slots of cities …');
});
