// Tests when rollout --follow takes the next step of a ramp, and when it stops.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import type { Trouble } from '../../health/trouble.ts';
import type { RampRow } from '../../versions/ramps.ts';
import { followRamps, followRollout, type LeftToFollow } from './follow-rollout.ts';

const answer = { json: null, lines: [] };
const hourMs = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const row = (phase: RampRow['phase'], from = 0): RampRow => ({
  ...{ id: 3, weight: 1, target: 0, step: 0.25 },
  ...{ from: iso(from), until: iso(100 * hourMs), phase },
});
const down: Trouble = {
  ring: 'r',
  address: 'a',
  kind: 'down',
  why: 'no answer',
  command: 'servers r',
};

/** Runs followRamps with these results of its rollouts, and returns its actions in order. */
async function story(
  lefts: readonly (LeftToFollow | null)[],
  {
    troubleAt = -1,
    changes = true,
    always = [],
  }: {
    readonly troubleAt?: number;
    readonly changes?: boolean;
    readonly always?: readonly Trouble[];
  } = {},
) {
  const told: string[] = [];
  let [rollouts, looks, clock] = [0, 0, hourMs];
  const { ended, steps, troubles, beside } = await followRamps({
    nowMs: () => clock,
    rollOut: () => {
      told.push('rollout');
      rollouts += 1;
      return Promise.resolve({ answer, left: lefts[rollouts - 1] ?? null });
    },
    troubles: () => {
      looks += 1;
      return Promise.resolve(looks - 1 === troubleAt ? [down, ...always] : always);
    },
    takeStep: () => {
      told.push('step');
      return Promise.resolve(changes);
    },
    waitUntil: (ms) => {
      told.push(`wait ${ms / hourMs}`);
      clock = ms;
      return Promise.resolve();
    },
    tell: (line) => void told.push(line),
  });
  expect(ended.left).toBe(lefts[rollouts - 1] ?? null);
  const also = beside.length === 0 ? {} : { beside };
  return { told: told.join(', '), steps, troubles, ...also };
}

const due = { ramps: [row('due')], restsUntil: null };
const over = { ramps: [row('over')], restsUntil: null };

test('steps are taken until no ramp can continue', async () => {
  const whole = await story([due, due, { ramps: [], restsUntil: null }]);
  expect(whole).toEqual({ told: 'rollout, step, rollout, step, rollout', steps: 2, troubles: [] });
  expect((await story([over])).told).toBe('rollout');
  // The end of maintenance is unknown, so rollout --follow does not wait for it.
  expect((await story([{ ramps: [row('held')], restsUntil: null }])).told).toBe('rollout');
});

test('the next step waits for its window and for resting partitions', async () => {
  const later = { ramps: [row('before', 9 * hourMs), row('before', 7 * hourMs)], restsUntil: null };
  expect((await story([later, over])).told).toBe('rollout, wait 7, step, rollout');
  const resting = { ramps: [row('due')], restsUntil: iso(5 * hourMs) };
  expect((await story([resting, over])).told).toBe('rollout, wait 5, step, rollout');
});

test('no step is taken during troubles or after a rollout that stopped', async () => {
  const sick = await story([due, due], { troubleAt: 1 });
  expect(sick).toEqual({ told: 'rollout, step, rollout', steps: 1, troubles: [down] });
  expect((await story([due, null])).told).toBe('rollout, step, rollout');
  expect(await story([due], { changes: false })).toMatchObject({ told: 'rollout, step', steps: 0 });
});

test('troubles unrelated to moves are reported and do not block a step', async () => {
  const kinds = ['unprotected', 'trust behind', 'trust ends', 'certificate ends'] as const;
  for (const kind of kinds) {
    const always = [{ ...down, kind, why: 'old', command: 'push r' }];
    const whole = await story([due, over], { always });
    const told = `rollout, ${kind} at a: old; ring-builder push r, step, rollout`;
    expect(whole).toEqual({ told, steps: 1, troubles: [], beside: always });
    const sick = await story([due], { always, troubleAt: 0 });
    expect(sick).toEqual({ told: 'rollout', steps: 0, troubles: [down], beside: always });
  }
});

test('changes that were staged during the rollout are not committed with a step', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:1/a 100 r1z2-127.0.0.1:2/b 100');
  await tool.json('commit cities -m first');
  await tool.json('ramp cities d1 0 --percent 50');
  await tool.json('commit cities -m ramp');
  const follow = () =>
    followRollout(tool.contextOf([]), { ring: 'cities', override: null }, async () => {
      await tool.json('remove cities d0');
      return { answer, left: due };
    });
  await expect(follow()).rejects.toMatchObject({
    code: 'STAGED_MOVED',
    hint: expect.stringContaining('ring-builder unstage cities, then ring-builder rollout cities'),
  });
  const staged = [{ command: 'ring-builder remove cities d0' }];
  expect(await tool.json('status cities')).toMatchObject({ head: 2, staged });
});
