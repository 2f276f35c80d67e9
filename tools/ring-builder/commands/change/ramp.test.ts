// Tests the command ramp: its window, what delays its steps, and what ends it.
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

/** Creates a ring of three devices of weight 100. No server has it: commits change the table. */
async function threeDevices(now = '2026-11-21T03:00:00Z'): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere({ nowMs: () => Date.parse(now) });
  await tool.json('create lv --partitions 16 --partitioner murmur3-mod --replicas 2');
  const pairs = [1, 2, 3].flatMap((zone) => [`r1z${zone}-10.0.0.${zone}:6200/a`, '100']);
  await tool.json(['add', 'lv', ...pairs]);
  await tool.json('commit lv -m first');
  return tool;
}

test.each([
  ['2026-11-21T18:59:52Z', '--hours 1', '2026-11-21 18:00 to 2026-11-21 20:00 UTC'],
  ['2026-11-21T19:18:00Z', '--in-hours 3 --hours 2', '2026-11-21 23:00 to 2026-11-22 01:00 UTC'],
  ['2026-11-21T19:00:00Z', '--in-hours 3 --hours 2', '2026-11-21 22:00 to 2026-11-22 00:00 UTC'],
  ['2026-11-21T19:00:00Z', '--in-hours 0 --hours 2', '2026-11-21 19:00 to 2026-11-21 21:00 UTC'],
])('at %s, ramp %s gets a window of whole hours: %s', async (now, options, window) => {
  const tool = await threeDevices(now);
  expect(await tool.text(`ramp lv d1 0 ${options}`)).toContain(
    `staged: ramp d1 r1z2-10.0.0.2:6200/a to weight 0 by 10 a version, ${window}\n`,
  );
});

async function weights(tool: RingBuilderHere): Promise<(number | null)[]> {
  const { devices } = await tool.json<{ devices: ({ weight: number } | null)[] }>('table lv');
  return devices.map((device) => device && device.weight);
}

test('a ramp takes no step during maintenance and takes it afterwards', async () => {
  const tool = await threeDevices();
  await tool.json('maintenance lv d1');
  expect(await tool.text('ramp lv d1 0 --percent 25')).toContain(
    'the ramp of d1 takes no step until its maintenance ends',
  );
  await tool.json('commit lv -m both');
  for (const command of ['plan lv', 'commit lv -m step']) {
    const answer = await tool.answer(`${command} --step-ramps`);
    expect(answer.json, command).toMatchObject({ changed: false });
    expect(answer.lines.join('\n'), command).toMatch(/d1: .*, waits until its maintenance ends/);
  }
  await tool.json('set-weight lv d0 90');
  const { warnings } = await tool.json<{ warnings: object[] }>('plan lv --step-ramps');
  expect(warnings).toContainEqual({
    code: 'RAMP_HELD',
    message: 'd1 is ramping from weight 100 to 0, but waits until its maintenance ends',
  });
  await tool.json('unstage lv');
  expect(await tool.json('status lv')).toMatchObject({ ramps: [{ id: 1, phase: 'held' }] });
  await tool.json('maintenance lv d1 --off');
  await tool.json('commit lv -m step --step-ramps');
  expect(await weights(tool)).toEqual([100, 75, 100]);
});

test('outside the window --step-ramps warns with RAMP_SHUT and takes no step', async () => {
  const tool = await threeDevices();
  await tool.json('ramp lv d1 0 --in-hours 5');
  const shut =
    'RAMP_SHUT: d1 is ramping from weight 100 to 0; its window, 2026-11-21 08:00 to ' +
    '2026-12-21 08:00 UTC, is not open yet: this commit takes no step';
  expect(await tool.text('plan lv')).not.toContain('RAMP_SHUT');
  for (const command of ['plan lv', 'commit lv -m step']) {
    expect(await tool.text(`${command} --step-ramps`), command).toContain(shut);
  }
  expect(await weights(tool)).toEqual([100, 100, 100]);
  expect(await tool.json('commit lv -m step --step-ramps')).toMatchObject({ changed: false });
});

test.each([
  [3.7, 5, [4.025, 4.35, 4.675, 5]],
  [
    100,
    12_345_678_901_234,
    [3_086_419_725_380, 6_172_839_450_660, 9_259_259_175_940, 12_345_678_901_234],
  ],
])('a ramp from %d to %d by 25 %% ends with its fourth step', async (from, to, steps) => {
  const tool = await threeDevices();
  await tool.json(`set-weight lv d1 ${from}`);
  await tool.json(`ramp lv d1 ${to} --percent 25`);
  await tool.json('commit lv -m ramp');
  for (const [at, weight] of steps.entries()) {
    await tool.json('commit lv -m step --step-ramps --override test');
    expect((await weights(tool))[1], `step ${at + 1}`).toBe(weight);
  }
  expect(await tool.json('status lv')).toMatchObject({ ramps: [] });
});

test('maintenance --no-target delays only a ramp to a higher weight', async () => {
  const tool = await threeDevices();
  await tool.json('ramp lv d0 200');
  await tool.json('ramp lv d1 0');
  await tool.json('maintenance lv d0 d1 --no-target');
  await tool.json('commit lv -m both');
  await tool.json('commit lv -m step --step-ramps');
  expect(await weights(tool)).toEqual([100, 90, 100]);
});

test('set-weight ends a ramp and says so; the ramp continues on a replacement', async () => {
  const tool = await threeDevices();
  await tool.json('ramp lv d0 50');
  await tool.json('ramp lv d1 0 --percent 25');
  await tool.json('commit lv -m ramps');
  expect(await tool.text('set-weight lv d0 80')).toContain('\nthe ramp of d0 to weight 50 ends\n');
  const ends = 'the ramp of d0 to weight 50 ends, and its weight is 80';
  expect(await tool.text('plan lv')).toContain(`warning RAMP_ENDS: ${ends}`);
  expect(await tool.text('commit lv -m lighter')).toContain(ends);
  expect(await tool.text('replace lv d1 10.0.0.9')).toContain(
    '\nthe ramp of d1 to weight 0 continues as that of d3\n',
  );
  await tool.json('commit lv -m replaced');
  await tool.json('commit lv -m step --step-ramps');
  expect(await weights(tool)).toEqual([80, null, 100, 75]);
});

test('a revert says which ramps end and which it does not restore', async () => {
  const tool = await threeDevices();
  await tool.json('ramp lv d0 50');
  await tool.json('commit lv -m out');
  await tool.json('set-weight lv d0 100');
  await tool.json('ramp lv d1 0');
  await tool.json('set-weight lv d2 60');
  await tool.json('commit lv -m others');
  const told = [
    'the ramp of d1 to weight 0 ends, and its weight is 100',
    'd0 had a ramp to weight 50: a revert does not restore a ramp',
  ];
  for (const command of ['revert lv 2', 'revert lv 2 -m back']) {
    const text = await tool.text(command);
    for (const line of told) expect(text, command).toContain(line);
  }
});
