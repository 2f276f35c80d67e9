// Tests how commands count slots that were added or removed, or that wait: each slot once, in its
// place.
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

async function committed(replicas: number, settings = ''): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json(`create cities --partitions 8 --replicas ${replicas}${settings}`);
  const devices = [1, 2, 3, 4].map((n) => `r1z1-10.0.0.${n}:6200/sdb 1`).join(' ');
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  return tool;
}

test('diff counts no slots as leaving the region of a removed device', async () => {
  const tool = await committed(1);
  await tool.json('remove cities d3');
  await tool.json('commit cities -m gone');
  const { tiers } = await tool.json<{ tiers: { tier: string; name: string }[] }>('diff cities');
  expect(tiers.map(({ tier }) => tier)).not.toContain('region');
  expect(tiers).toContainEqual({ tier: 'server', name: 'r1z1-10.0.0.4', slotsIn: 0, slotsOut: 2 });
});

test('log --stat counts slots that were added or removed', async () => {
  const tool = await committed(2);
  await tool.json('set cities --replicas 3');
  await tool.json('commit cities -m more');
  await tool.json('set cities --replicas 2');
  await tool.json('commit cities -m fewer --override test');
  const { entries } = await tool.json<{ entries: { stat: object }[] }>('log cities --stat');
  expect(entries.map(({ stat }) => stat)).toMatchObject([
    { slotsAdded: 0, slotsRemoved: 8 },
    { slotsAdded: 8, slotsRemoved: 0 },
    { slotsAdded: 16, devicesAdded: 4 },
  ]);
  const said = await tool.text('log cities --stat');
  expect(said).toMatch(/\n +8 slots dropped[^]*\n +8 slots added[^]*\+4 devices, 16 slots added/);
});

test('a commit without new moves says how many moves are left', async () => {
  const tool = await committed(2, ' --min-part-hours 24');
  await tool.json('set-weight cities d2 0 d3 0');
  const plan = await tool.json<{ movesLeft: number }>('plan cities');
  expect(plan.movesLeft).toBeGreaterThan(0);
  await tool.json('commit cities -m drained --override test');
  const again = { changed: false, movesLeft: plan.movesLeft };
  expect(await tool.json('commit cities -m again')).toMatchObject(again);
  // No server has the ring, so no rollout continues with the moves.
  expect(await tool.json('status cities')).toMatchObject({
    next: 'ring-builder commit cities -m "the moves that were left"',
  });
  await tool.json('set cities --pretend-min-part-hours-passed');
  expect(await tool.text('status cities')).toContain(
    'set --pretend-min-part-hours-passed up to version 2',
  );
  const { moved } = await tool.json<{ moved: number }>('commit cities -m later --override test');
  expect(moved).toBe(plan.movesLeft);
});
