// Scenarios of durability: all servers lose power, and only synced data remains.
import { isAcked } from '../../../test/support/history.ts';
import { keysOf, type Scenario, scenarioOf } from './scenario.ts';

const SLOW_SYNC_MS = 400;
const READY_MS_MAX = 30_000;
/** Of all keys together slightly more than a segment of 512 KiB. */
const BULK_CHARACTERS = 24_000;

/** Neither the oldest records nor the newest may be lost. */
export const powerLoss = scenarioOf('a power loss of all', async (scenario) => {
  const { stage, keys } = scenario;
  const { victims } = stage;
  const [a, b] = scenario.cast;
  await scenario.askAll(a, { text: 'early', level: 'all' });
  await scenario.suffer({ syncDelayMs: SLOW_SYNC_MS, walShare: 0 }, ...victims);
  const last = keys.slice(0, keys.length / 2);
  await Promise.all(
    last.map((key) => scenario.ask(a, { key, value: scenario.value(key, 'last') })),
  );
  await Promise.all(victims.map((victim) => victim.end('cut')));
  for (const victim of victims) victim.set({ syncDelayMs: 0 });
  await Promise.all(victims.map((victim) => victim.start()));
  const answered = { isSo: isAcked, withinMs: READY_MS_MAX };
  await scenario.askUntil(b, {}, answered);
});

/** Records of a partition without writes, while the log moves on to the next segment. */
export const restingPartition = scenarioOf('a partition that rests', (scenario) =>
  rest(scenario, ['bulk']),
);

/**
 * The same for two segments. The store keeps one besides the current one: at the second new segment
 * it checkpoints resting partitions.
 */
export const longRestingPartition = scenarioOf('a partition that rests for long', (scenario) =>
  rest(scenario, ['bulk', 'more']),
);

/** `texts`: of the values written to another partition, each for one segment. */
async function rest(scenario: Scenario, texts: readonly string[]): Promise<void> {
  const { stage, signal } = scenario;
  const { victims } = stage;
  const [a, b] = scenario.cast;
  await scenario.askAll(a, { text: 'early', level: 'all' });
  for (const text of texts) await writeBulk(scenario, text);
  await scenario.suffer({ walShare: 0 }, ...victims);
  if (signal.aborted) return;
  await Promise.all(victims.map((victim) => victim.end('cut')));
  await Promise.all(victims.map((victim) => victim.start()));
  await scenario.askUntil(b, {}, { isSo: isAcked, withinMs: READY_MS_MAX });
}

/** Writes large values to another partition: a segment of the log. */
async function writeBulk(scenario: Scenario, text: string): Promise<void> {
  const [a] = scenario.cast;
  const filler = '.'.repeat(BULK_CHARACTERS);
  const play = scenario.stage.history.length;
  const keys = keysOf(await scenario.stage.head(), { play, partition: 1 });
  await Promise.all(
    keys.map((key) => scenario.ask(a, { key, value: scenario.value(key, text) + filler })),
  );
}
