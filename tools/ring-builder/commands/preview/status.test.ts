// Tests what status says of servers that moves wait for and of devices that may be removed, and
// which command each step of a removal names next.
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';
import { statusServer } from '../../../../test/support/status-server.ts';

/** No server listens at these addresses. */
const devices = [1, 2, 3].map((n) => `r1z${n}-127.0.0.1:${n}/sdb 1`).join(' ');

/** A ring with a noted push. One of its servers answers, and has no ring. */
async function pushed(): Promise<RingBuilderHere> {
  const { port } = await statusServer(() => ({ ready: false }));
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 2 --min-part-hours 0');
  await tool.json(`add cities ${devices.replace('127.0.0.1:1/', `127.0.0.1:${port}/`)}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  return tool;
}

test('every command names the next step if a joiner died during its moves', async () => {
  const tool = await pushed();
  await tool.json('add cities r1z4-127.0.0.1:4/sdb 1');
  await tool.json('commit cities -m joins');
  const status = await tool.answer('status cities');
  expect(status.json).toMatchObject({ inFlight: 4, stages: { failed: 4 }, silent: { length: 3 } });
  expect(status.lines).toContain('127.0.0.1:4 does not answer: d3');
  // A cancel is irreversible, so it is not the first command that the advice names.
  const [back, forGood] = [
    /^start .*127.0.0.1:4, then ring-builder rollout/,
    / back: ring-builder moves cities cancel d3 && /,
  ];
  const advice = status.lines.find((line) => back.test(line));
  expect(advice).toMatch(forGood);
  expect(status.next).toBe('ring-builder rollout cities');
  expect((await tool.answer('status cities --offline')).next).toBe('ring-builder rollout cities');

  const cancelled = await tool.answer('moves cities cancel d3');
  expect(cancelled.next).toBe('ring-builder remove cities d3');
  expect(cancelled.lines.at(-1)).toMatch(/^d3 does not answer: when it is back, run rollout again/);
  expect((await tool.answer('remove cities d3')).next).toBe('ring-builder plan cities');
  // The device leaves by a rollout, although no slot moves.
  const committed = await tool.answer('commit cities -m gone --override test');
  expect(committed.next).toBe('ring-builder rollout cities');
});

test('a drained device may be removed, unless a ramp raises its weight again', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  expect((await tool.text('status cities')).includes('drained')).toBe(false);
  await tool.json('set-weight cities d1 0');
  await tool.json('ramp cities d2 0 --percent 100');
  await tool.json('commit cities -m drains');
  const text = await tool.text('status cities');
  expect(text).toContain('drained, may leave: ring-builder remove cities d1\n');
  expect(text).toMatch(/sdb +0 +active, drained\n/);
  await tool.json('commit cities -m drains --step-ramps');
  expect(await tool.text('status cities')).toContain('ring-builder remove cities d1 d2\n');
  await tool.json('ramp cities d2 5');
  await tool.json('commit cities -m back');
  expect(await tool.text('status cities')).toContain('ring-builder remove cities d1\n');
});

test('--step-ramps reports why no step is due: no ramp, or a window that is closed', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  const step = (command: string) => tool.text(`${command} cities --step-ramps`);
  expect(await step('plan')).toContain('ring-builder ramp cities DEVICE WEIGHT starts a ramp');
  await tool.json('ramp cities d1 0 --in-hours 5 --hours 2');
  await tool.json('commit cities -m tonight');
  for (const command of ['plan', 'commit -m step']) {
    expect(await step(command)).toMatch(/ramp d1: weight 1 to 0 by 0.1 a step, .* not open yet/);
  }
});
