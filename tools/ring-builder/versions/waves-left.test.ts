// Tests that the rest of a change is reported wherever the change can look finished: how many moves
// are left, and until when they rest.
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { drained, knownRing } from '../../../test/support/known-ring.ts';
import { linesOf } from '../cli/command.ts';
import { rolloutAnswer } from '../commands/apply/rollout.ts';
import { noTotals } from '../commands/apply/rollout-totals.ts';
import { type WavesLeft, wavesLeft, wavesLeftLines } from './waves-left.ts';

const limits = vi.hoisted(() => {
  // Other test files in this process may have loaded modules with the usual limit.
  vi.resetModules();
  return { laterMovesMax: 1_000 };
});
vi.mock('@ringwright/base/limits-rings', async (original) => ({
  ...(await original<object>()),
  get laterMovesMax() {
    return limits.laterMovesMax;
  },
}));
afterAll(() => {
  vi.doUnmock('@ringwright/base/limits-rings');
  vi.resetModules();
});
beforeEach(() => {
  limits.laterMovesMax = 1_000;
});

interface Planned {
  readonly moved: number;
  readonly movesLeft: number;
  readonly warnings: readonly { readonly code: string }[];
}

/** The head once no move of the last version is in flight any more, and what is left then. */
async function landed({ head, log, now }: Awaited<ReturnType<typeof knownRing>>) {
  const found = await head();
  const idle = { ...found, ring: { ...found.ring, moves: [] } };
  return { head: idle, left: wavesLeft(idle, await log(), now()) };
}

test('a rollout reports a resting wave and the minute at which it may continue', async () => {
  const ring = await knownRing(24);
  const { tool, context, now } = ring;
  await tool.json('set-weight cities d0 0 d1 0');
  const plan = await tool.json<Planned>('plan cities --offline');
  await tool.json('commit cities -m drained --override both');
  const committed = now();
  ring.later(2.5);
  const { head, left } = await landed(ring);
  const until = new Date(committed + 24 * 3_600_000).toISOString();
  expect(left).toMatchObject({ movesLeft: plan.movesLeft, movesNotNoted: 0, restsUntil: until });
  expect(left.next.moves).toEqual([]);
  const drains = { left: [], isLeftToDown: false };
  const outcome = { head, end: 'done', drains, totals: { ...noTotals }, paused: 0 } as const;
  const typedOptions = ' --step --max-moves 2';
  const resting = { waits: left, advice: null, typedOptions, remainderLines: [], isRampDue: false };
  const answer = rolloutAnswer(context, outcome, resting);
  expect(answer.json).toMatchObject({ end: 'resting', movesLeft: plan.movesLeft });
  expect(answer.json).toMatchObject({ restsUntil: until });
  const next = `ring-builder rollout cities${typedOptions}`;
  expect([answer.exit, answer.next]).toEqual([6, next]);
  expect(answer.lines.join('\n')).toContain(`after ${until.slice(0, 16)}Z`);
  const done = { ...resting, waits: { ...left, restsUntil: null }, isRampDue: true };
  expect(rolloutAnswer(context, outcome, done).next).toBe('ring-builder plan cities --step-ramps');
  // Drains of servers that are down need no further rollout: it would end in the same way.
  const toDown = { ...outcome, end: 'drains', drains: { left: [], isLeftToDown: true } } as const;
  const skipped = { ...resting, typedOptions: ' --skip-down' };
  expect(rolloutAnswer(context, toDown, skipped).next).toBe('ring-builder servers cities');
  ring.later(24);
  expect((await landed(ring)).left).toMatchObject({ restsUntil: null });
  expect((await landed(ring)).left.next.moves.length).toBeGreaterThan(0);
});

test('list and status show the number of moves that are left for later', async () => {
  const { tool } = await knownRing(24);
  await tool.json('set-weight cities d0 0 d1 0');
  const { movesLeft } = await tool.json<Planned>('plan cities --offline');
  await tool.json('commit cities -m drained --override both');
  expect(await tool.json('list')).toMatchObject({ rings: [{ movesLeft, restsUntil: null }] });
  expect(await tool.text('list')).toContain(`${movesLeft} moves left for later`);
  expect(await tool.json('status cities')).toMatchObject({ movesLeft, movesNotNoted: 0 });
});

test('no wave of a revert waits for min_part_hours', async () => {
  const ring = await knownRing(24, 6);
  const { tool } = ring;
  await drained(ring);
  ring.later(1);
  const { movesLeft } = await tool.json<Planned>('revert cities 1 -m back --override back');
  expect(movesLeft).toBeGreaterThan(0);
  const { left } = await landed(ring);
  expect(left).toMatchObject({ movesLeft, restsUntil: null });
  expect(left.next.moves.length).toBeGreaterThan(0);
});

test('moves beyond what a version can note stay counted after cancels', async () => {
  limits.laterMovesMax = 3;
  const { tool, head, log } = await knownRing(1, 6);
  await tool.json('set-weight cities d0 0 d1 0');
  const plan = await tool.json<Planned>('plan cities --offline');
  expect(plan.movesLeft).toBeGreaterThan(4);
  expect(plan.warnings.map(({ code }) => code)).toContain('MOVES_NOT_NOTED');
  await tool.json('commit cities -m drained --override both');
  const { waves } = wavesLeft(await head(), await log(), 0);
  expect(waves.flat()).toHaveLength(3);
  const movesNotNoted = plan.movesLeft - 3;
  const status = { movesLeft: plan.movesLeft, movesNotNoted };
  expect(await tool.json('status cities')).toMatchObject(status);
  for (const { partition } of waves.flat()) await tool.json(`moves cities cancel ${partition}`);
  const rest = { movesLeft: movesNotNoted, movesNotNoted };
  expect(await tool.json('status cities')).toMatchObject(rest);
  expect(await tool.text('status cities')).toContain(
    `${movesNotNoted} moves of the change were not noted; to continue with them: ring-builder plan`,
  );
  // A composite ring is changed by compose, not by a plan.
  const [found, entries] = [await head(), await log()];
  const part = { ring: 'east', version: 1, id: '', replicas: 1, devices: [] };
  const composed = { ...found, state: { ...found.state!, components: [part] } };
  const waits = wavesLeft(composed, entries, 0);
  expect(linesOf(wavesLeftLines('cities', waits))).toEqual([
    expect.stringMatching(/: ring-builder compose cities east$/),
  ]);
  const ended = { head: composed, end: 'done', drains: { left: [], isLeftToDown: false } } as const;
  const outcome = { ...ended, totals: { ...noTotals }, paused: 0 };
  const more = { waits, advice: null, typedOptions: '', remainderLines: [], isRampDue: false };
  const next = 'ring-builder compose cities east';
  expect(rolloutAnswer(tool.contextOf([]), outcome, more).next).toBe(next);
  await tool.json('moves cities cancel all');
  const done = await tool.json<WavesLeft>('status cities');
  expect(done).toMatchObject({ movesLeft: 0, movesNotNoted: 0 });
});

test('a revert warns if it would leave more moves than a version can note', async () => {
  const ring = await knownRing(1, 6);
  await drained(ring);
  limits.laterMovesMax = 1;
  const { warnings } = await ring.tool.json<Planned>('revert cities 1');
  expect(warnings.map(({ code }) => code)).toContain('MOVES_NOT_NOTED');
});
