// Scenarios of the coordinator: what one server received reaches another late, or never.
import { isAcked } from '../../../test/support/history.ts';
import { Broken, lasts } from '../nemesis.ts';
import { isText, type Scenario, scenarioOf } from './scenario.ts';

/** Longer than two reads together. */
const SLOW_SYNC_MS = 800;
/** Time in which a held request arrives, is stored and answered. */
const ARRIVAL_MS = 200;
const STORED_MS_MAX = 3_000;
/** Within the minute that stamps may be ahead. */
const AHEAD_MS = 20_000;

/** A write reaches one of three devices. Once it was read, every later read must return it. */
export const halfWritten = scenarioOf('a write that reached one device', async (scenario) => {
  const { signal } = scenario;
  const [a, b, c] = scenario.cast;
  scenario.hold([a, b], [a, c]);
  const writing = scenario.askAll(a, { text: 'after' });
  const stored = { isSo: isText('after'), withinMs: STORED_MS_MAX };
  await scenario.askUntil(a, { level: 'one' }, stored);
  await lasts(ARRIVAL_MS, signal);
  scenario.hold([c, a]);
  await scenario.askAll(c, {}); // nobody may miss what was acknowledged
  scenario.lose([a, b], [a, c]);
  await scenario.suffer({ syncDelayMs: SLOW_SYNC_MS }, b, c);
  scenario.hold([b, c]);
  await Promise.all(
    scenario.keys.map(async (key) => {
      await scenario.ask(b, { key });
      await scenario.ask(c, { key });
    }),
  );
  await scenario.suffer({ syncDelayMs: 0 }, b, c);
  scenario.stage.network.heal();
  await writing;
});

/** A device that missed a write is read: in a session, and at quorum. */
export const missedWrite = scenarioOf('a device that missed a write', async (scenario) => {
  const [a, , c] = scenario.cast;
  scenario.hold([a, c]);
  await Promise.all(
    scenario.keys.map(async (key) => {
      const value = scenario.value(key, 'after');
      const { stamp } = await scenario.ask(a, { key, value, seen: { session: key, stamp: null } });
      await scenario.ask(c, { key, level: 'one', seen: { session: key, stamp } });
      await scenario.ask(c, { key });
    }),
  );
  scenario.lose([a, c]);
});

/** Writes of many keys at once, read where a single message brought all of them. */
export const burst = scenarioOf('many writes in one message', async (scenario) => {
  const [a] = scenario.cast;
  await scenario.askAll(a, { text: 'together' });
  await readWithout(scenario);
});

/** A record arrives after a newer one was acknowledged. */
export const lateArrival = scenarioOf('a record that arrives late', async (scenario) => {
  const [a, b, c] = scenario.cast;
  scenario.hold([a, b], [a, c]);
  await scenario.askAll(a, { text: 'older', level: 'one' });
  await scenario.askAll(b, { text: 'newer', level: 'all' });
  scenario.release([a, b], [a, c]);
  await lasts(ARRIVAL_MS, scenario.signal);
  await readWithout(scenario);
});

/** A server that does not know of a newer stamp writes below it. */
export const lowStamp = scenarioOf('a write below another one', async (scenario) => {
  const [a, b, c] = scenario.cast;
  scenario.hold([b, a], [c, a]);
  await scenario.suffer({ clockOffsetMs: AHEAD_MS }, b);
  await scenario.askAll(b, { text: 'newer' });
  await scenario.askAll(a, { text: 'lower' });
  await scenario.suffer({ clockOffsetMs: 0 }, b);
  scenario.stage.network.heal();
  await scenario.askAll(c, {});
});

/** A stamp on every device advances all clocks: the next write of any server is above it. */
export const aheadStamp = scenarioOf('a write after one of a clock ahead', async (scenario) => {
  const [a, b] = scenario.cast;
  await scenario.suffer({ clockOffsetMs: AHEAD_MS }, b);
  const ahead = await scenario.askAll(b, { text: 'ahead', level: 'all' });
  const after = await scenario.askAll(a, { text: 'after' });
  await scenario.suffer({ clockOffsetMs: 0 }, b);
  const stored = new Set(ahead.filter(isAcked).map(({ key }) => key));
  const below = after.filter(({ key, outcome }) => outcome === 'superseded' && stored.has(key));
  if (below.length === 0) return;
  throw new Broken(
    `stamped too low: ${a.name} had stored what it wrote ${below.length} keys below`,
  );
});

/** Reads through the second server and the third, without the first. */
async function readWithout(scenario: Scenario): Promise<void> {
  const [a, b, c] = scenario.cast;
  scenario.hold([b, a], [c, a]);
  await Promise.all([scenario.askAll(b, {}), scenario.askAll(c, {})]);
}
