// Tests that verify --optimal proves the table that a rollout of the version reaches. The oracle
// applies all waves and counts slots.
import { join } from 'node:path';
import { finalizeMoves, initializeMoves, proposeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { drained, knownRing } from '../../../../test/support/known-ring.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { wavesLeft } from '../../versions/waves-left.ts';
import { verifyOptimal } from './verify-optimal.ts';

interface Planned {
  readonly moved: number;
  readonly movesLeft: number;
}

const landedOf = (ring: Ring, id: string): Ring => finalizeMoves(initializeMoves(ring, id), id);

/** Applies all waves, then counts the slots on devices that their partition lacked in `before`. */
async function slotsInTheEnd(ring: Awaited<ReturnType<typeof knownRing>>, before: Ring) {
  const head = await ring.head();
  const { waves } = wavesLeft(head, await ring.log(), ring.now());
  let end = landedOf(head.ring, head.id);
  for (const moves of waves) end = landedOf(proposeMoves(end, head.id, { moves }), head.id);
  const at = ({ table }: Ring, partition: number): number[] => table.map((row) => row[partition]!);
  return Array.from({ length: end.partitions }, (_, partition) => {
    const had = at(before, partition);
    return at(end, partition).filter((id) => !had.includes(id)).length;
  }).reduce((sum, count) => sum + count, 0);
}

test.each([1, 2])('the proof covers waves with resting partitions (case %i)', async (seed) => {
  const ring = await knownRing(24, 6);
  const { tool, context } = ring;
  const weights = [0, 1, 2, 3, 4, 5, 6].map((id) => `d${id} ${60 + ((seed * 37 + id * 53) % 90)}`);
  await tool.json(`set-weight cities ${weights.join(' ')}`);
  await tool.json('commit cities -m some --direct --yes --override meant');
  ring.later(1);
  await tool.json(`set-weight cities d${seed} 0 d0 20`);
  const before = (await ring.head()).ring;
  const plan = await tool.json<Planned>('plan cities --offline');
  expect(plan.movesLeft).toBeGreaterThan(0);
  const { version } = await tool.json<{ version: number }>(
    'commit cities -m more --override meant',
  );
  const check = await verifyOptimal(context.rings, 'cities', { version, nowMs: () => 0 });
  expect(check).toMatchObject({ version, moved: plan.moved, movesLeft: plan.movesLeft });
  expect(check.certificate.moves).toBe(await slotsInTheEnd(ring, before));
});

test('the proof of a revert covers all its waves back to the old table', async () => {
  const ring = await knownRing(24, 6);
  const { tool, context } = ring;
  await drained(ring);
  const before = (await ring.head()).ring;
  const plan = await tool.json<Planned>('revert cities 1 -m back --override meant');
  expect(plan.movesLeft).toBeGreaterThan(0);
  const check = await verifyOptimal(context.rings, 'cities', {
    version: before.version + 1,
    nowMs: () => 0,
  });
  expect(check).toMatchObject({ moved: plan.moved, movesLeft: plan.movesLeft });
  expect(check.certificate.moves).toBe(await slotsInTheEnd(ring, before));
});

test('the proof respects pins in a ring with a split partition', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1 r1z2-127.0.0.1:2/sdb 1');
  await tool.json('commit cities -m first');
  await tool.json('split cities 0');
  await tool.json('commit cities -m split');
  for (const partition of [3, 5]) await tool.json(`pin cities ${partition} --on d0`);
  await tool.json('commit cities -m pinned --direct --yes');
  const check = await verifyOptimal(join(tool.folder, 'rings'), 'cities', {
    version: 3,
    nowMs: () => 0,
  });
  expect(check.certificate).toMatchObject({ optimal: true, pinned: true, faults: [] });
});
