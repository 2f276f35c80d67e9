// ramp as it is typed: its window, what keeps its steps waiting, and what ends it.
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

/** Three devices of weight 100, never pushed: each commit goes straight to its table. */
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
])('at %s, ramp %s has a window of whole hours, no shorter', async (now, options, window) => {
  const tool = await threeDevices(now);
  expect(await tool.text(`ramp lv d1 0 ${options}`)).toContain(
    `staged: ramp d1 r1z2-10.0.0.2:6200/a to weight 0 by 10 a version, ${window}\n`,
  );
});
