// Tests what a rollout proposes after its first wave: only moves that the plan showed, and none in
// place of canceled ones. There are no joiners: these waves are canceled, not copied.
import type { PlannedMove } from '@ringwright/builder/plan/plan';
import { expect, test } from 'vitest';
import { knownRing } from '../../../../test/support/known-ring.ts';

interface Planned {
  readonly moves: readonly PlannedMove[];
  readonly later: readonly (readonly PlannedMove[])[];
  readonly movesLeft: number;
  readonly warnings: readonly { readonly code: string }[];
}

interface Status {
  readonly inFlight: number;
  readonly movesLeft: number;
  readonly cancelled: readonly number[];
  readonly next: string;
}

test.each([0, 1])('no other move replaces a canceled move (min-part-hours %s)', async (hours) => {
  const { tool, head, propose } = await knownRing(hours);
  await tool.json('set-weight cities d6 115');
  const plan = await tool.json<Planned>('plan cities --offline');
  expect(plan).toMatchObject({ moved: 1, movesLeft: 0, later: [] });
  await tool.json('commit cities -m more');
  const [{ partition }] = plan.moves as [PlannedMove];
  const gone = await tool.json(`moves cities cancel ${partition}`);
  expect(gone).toMatchObject({ cancelled: 1, inFlight: 0, movesLeft: 0, partitions: [partition] });
  expect(await propose()).toBe(false);
  expect((await head()).ring.moves).toEqual([]);
  const status = await tool.json<Status>('status cities');
  expect(status).toMatchObject({ inFlight: 0, movesLeft: 0, cancelled: [partition] });
  expect(status.next).toBe('ring-builder push cities');
  // A new plan shows a move again, and a commit makes it.
  const again = await tool.json<Planned>('plan cities --offline');
  expect(again.moves).toHaveLength(1);
  const codes = again.warnings.map(({ code }) => code);
  expect(codes.includes('CANCELLED_BEFORE')).toBe(again.moves[0]?.partition === partition);
  expect(await tool.json('commit cities -m again')).toMatchObject({ moved: 1 });
  expect(await tool.json<Status>('status cities')).toMatchObject({ cancelled: [] });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true });
});

test('later waves are shown by the plan and can be canceled by partition', async () => {
  const { tool, head, propose, told, later } = await knownRing(1);
  await tool.json('set-weight cities d0 0 d1 0');
  const plan = await tool.json<Planned>('plan cities --offline');
  expect(plan.movesLeft).toBeGreaterThan(2);
  expect(plan.movesLeft).toBe(plan.later.flat().length);
  await tool.json('commit cities -m drained --override both');
  const named = plan.later.flat()[0]!.partition;
  const one = await tool.json<{ cancelledLater: number; cancelled: number; movesLeft: number }>(
    `moves cities cancel ${named}`,
  );
  expect(one.cancelledLater).toBeGreaterThan(0);
  expect(await tool.refusal(`moves cities cancel ${named}`)).toEqual({
    exit: 3,
    code: 'MOVE_UNKNOWN',
  });
  expect(await tool.json<Status>('status cities --offline')).toMatchObject({
    movesLeft: one.movesLeft,
    cancelled: [named],
    next: 'ring-builder rollout cities',
  });
  const listed = await tool.json<{ moves: { from: number }[]; later: { from: number }[][] }>(
    'moves cities list d0',
  );
  const from = [...listed.moves, ...listed.later.flat()].map((one) => one.from);
  expect(new Set(from)).toEqual(new Set([0]));
  // Apart from the canceled one, all later moves are of partitions in flight. So once those in
  // flight are canceled too, no move is left.
  const inFlight = (await head()).ring.moves.map(({ partition }) => partition);
  const alone = plan.later.flat().filter(({ partition }) => !inFlight.includes(partition));
  expect(alone.map(({ partition }) => partition)).toEqual([named]);
  expect(await tool.json('moves cities cancel all')).toMatchObject({ movesLeft: 0, inFlight: 0 });
  later(2);
  expect(await propose()).toBe(false);
  expect(told.filter((line) => /\bmoves?\b/.test(line))).toEqual([]);
});

test('a revert of a commit in flight leaves no moves for a later wave', async () => {
  const { tool, propose } = await knownRing(0);
  await tool.json('set-weight cities d0 0 d1 0');
  await tool.json('commit cities -m drained --override both');
  await tool.json('revert cities 1 -m back');
  expect(await tool.json<Status>('status cities')).toMatchObject({ inFlight: 0, movesLeft: 0 });
  expect(await propose()).toBe(false);
});
