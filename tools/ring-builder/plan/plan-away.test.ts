// Tests what a plan says about servers that do not answer, on small rings with known holders.
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { servedRing } from '../../../test/support/served-ring.ts';
import { linesOf } from '../cli/command.ts';
import { planAway, planAwayLines } from './plan-away.ts';

/** Slots of partition p: devices p, p + 1 and p + 2 modulo 4. */
const ring = servedRing({ devices: 4, power: 2 });
const server = (id: number, required = true) => {
  return { address: `10.0.0.${id}:6200`, devices: [id], required };
};
const move = (partition: number, from: number | null, to: number) => {
  return { partition, replica: 0, from, to };
};

test('slots that move from a device that is away are counted, and those without sources', () => {
  expect(planAway(ring, [move(1, 1, 0)], [])).toBeNull();
  const one = planAway(ring, [move(1, 1, 0), move(2, 2, 1)], [server(1, false)]);
  expect(one).toMatchObject({ slotsFrom: 1, slotsTo: 1, stuck: 0, holders: { partitions: 3 } });
  // Two of the three holders must be sources: with d1 and d2 away, partition 1 has only d3.
  const two = planAway(ring, [move(1, 1, 0), move(3, 3, 2)], [server(1, false), server(2)]);
  expect(two).toMatchObject({ slotsFrom: 1, slotsTo: 1, stuck: 1, stuckFirst: [1] });
  // A new slot needs two sources as well. Partition 0 has d0, d1 and d2.
  expect(planAway(ring, [move(0, null, 3)], [server(1), server(2)])).toMatchObject({ stuck: 1 });
  expect(planAway(ring, [move(0, null, 3)], [server(1)])).toMatchObject({ stuck: 0 });
});

test('a rollout does not wait for removed servers, and others get advice what to type', () => {
  const moves = [move(1, 1, 0)];
  const removed = linesOf(planAwayLines(ring, planAway(ring, moves, [server(1, false)])!)).join(
    '\n',
  );
  expect(removed).toContain(
    'no answer within 1.5 s from d1 (10.0.0.1:6200): 3 of 4 partitions have a slot',
  );
  expect(removed).toContain('1 slot has one copy less until');
  expect(removed).toMatch(/removed, so a rollout does not wait for an answer$/);
  const both = linesOf(planAwayLines(ring, planAway(ring, moves, [server(1), server(2)])!)).join(
    '\n',
  );
  expect(both).toContain('holders of 1 partition answer (1): a rollout waits');
  expect(both).toMatch(
    /rollout cities --skip-down .* replace it: ring-builder replace cities OLD NEW$/,
  );
  const joiner = linesOf(planAwayLines(ring, planAway(ring, [move(1, 1, 4)], [server(4)])!)).join(
    '\n',
  );
  expect(joiner).toMatch(
    /no partition has a slot there\n1 slot moves there: a rollout waits for this/,
  );
  const all = [0, 1, 2, 3].map((id) => server(id));
  expect(linesOf(planAwayLines(ring, planAway(ring, moves, all)!)).join()).not.toContain('remove');
});

test('a split that fills slots on removed servers is said to wait for them', () => {
  const found = planAway(ring, [move(4, null, 1), move(1, 1, 0)], [server(1, false)])!;
  expect(found).toMatchObject({ slotsTo: 1, slotsToRemoved: 1 });
  const text = linesOf(planAwayLines(ring, found)).join('\n');
  expect(text).toContain('removed, but the split or merge fills 1 slot there first; if it will');
  expect(text).toContain('ring-builder unstage cities NUMBER');
  expect(text).not.toContain('does not wait');
});

test('plan asks the servers and reports the effect of a removed device in numbers', async () => {
  const tool = await ringBuilderHere();
  // No server listens at these ports.
  const devices = [1, 2, 3, 4].map((n) => `r1z${n}-127.0.0.1:${n}/sdb 1`);
  await tool.json('create cities --partitions 16 --replicas 3 --min-part-hours 0');
  await tool.json(`add cities ${devices.join(' ')}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  await tool.json('remove cities d1');
  const plan = await tool.json<{ moved: number }>('plan cities');
  const away = { slotsFrom: 12, slotsTo: 12, stuck: 12, holders: { partitions: 16, none: 16 } };
  expect(plan).toMatchObject({ moved: 12, asked: 4, answered: 0, away });
  const shown = await tool.text('plan cities');
  expect(shown).toContain('d1 (127.0.0.1:2): removed, so a rollout does not wait for an answer');
  expect(await tool.json('plan cities --offline')).toMatchObject({ away: null });
});
