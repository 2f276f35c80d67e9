// Scenarios of repair: a device that missed updates, and one that has lost everything.
import fs from 'node:fs';
import { Broken, lasts } from '../nemesis.ts';
import { isText, scenarioOf } from './scenario.ts';

/** Several rounds of replication. */
const ROUNDS_MS = 3_000;
/** Some three seconds are usual; a bug takes for ever. */
const REPAIR_MS_MAX = 15_000;
/** For three seconds, so that some are old enough to be offered while others are too young. */
const MISSED_ROUNDS = 15;
const MISSED_PAUSE_MS = 200;
const READY_MS_MAX = 30_000;
const READS = 4;
const READ_PAUSE_MS = 500;

/** A device without room misses updates of records whose first versions are confirmed. */
export const missedUpdates = scenarioOf('a device that missed updates', async (scenario) => {
  const { signal } = scenario;
  const [a, , c] = scenario.cast;
  await lasts(ROUNDS_MS, signal);
  await scenario.suffer({ diskFull: true }, c);
  // It notices with one of the next writes.
  for (let round = 0; !signal.aborted; round += 1) {
    await scenario.askAll(a, { text: `after ${round}` });
    const held = await scenario.askAll(c, { level: 'one' });
    if (!held.some(isText(`after ${round}`))) break;
  }
  await scenario.askAll(a, { text: 'last' });
  await lasts(ROUNDS_MS, signal);
  await scenario.suffer({ diskFull: false }, c);
  const repaired = { isSo: isText('last'), withinMs: REPAIR_MS_MAX };
  const open = await scenario.askUntil(c, { level: 'one' }, repaired);
  if (open.length === 0 || signal.aborted) return;
  throw new Broken(`no convergence: ${c.name} lacks ${open.join(', ')} after all that time`);
});

/** What one coordinator writes does not reach a device; another holder repairs it, under writes. */
export const missedWrites = scenarioOf('a device that missed writes', async (scenario) => {
  const { signal } = scenario;
  const [a, , c] = scenario.cast;
  scenario.hold([a, c]);
  for (let round = 0; round < MISSED_ROUNDS && !signal.aborted; round += 1) {
    await scenario.askAll(a, { text: `after ${round}` });
    await lasts(MISSED_PAUSE_MS, signal);
  }
  await scenario.askAll(a, { text: 'last' });
  const repaired = { isSo: isText('last'), withinMs: REPAIR_MS_MAX };
  const open = await scenario.askUntil(c, { level: 'one' }, repaired);
  scenario.release([a, c]);
  if (open.length === 0 || signal.aborted) return;
  throw new Broken(`no convergence: ${c.name} lacks ${open.join(', ')} after all that time`);
});

/** Only one of two devices that have a record is left, and the other begins anew. */
export const wipedDevice = scenarioOf('a wiped device', async (scenario) => {
  const { signal } = scenario;
  const { network } = scenario.stage;
  const [a, b, c] = scenario.cast;
  scenario.hold([a, b], [c, b]);
  await scenario.askAll(c, { text: 'after' });
  for (const { place } of [b, c]) {
    network.rule(a.place.number, place.number, { held: true });
    network.rule(place.number, a.place.number, { held: true });
  }
  await c.end('kill');
  fs.rmSync(c.server.place.data, { recursive: true });
  scenario.release([c, b]);
  await c.start();
  for (let read = 0; read < READS; read += 1) {
    await Promise.all([scenario.askAll(b, {}), lasts(READ_PAUSE_MS, signal)]);
  }
  network.reset(a.place.number, b.place.number);
  network.reset(a.place.number, c.place.number);
  network.heal();
  await scenario.askUntil(c, {}, { isSo: isText('after'), withinMs: READY_MS_MAX });
});
