// Scenarios of repair: a device that missed updates, and one that lost everything.
import fs from 'node:fs';
import path from 'node:path';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import { isAcked } from '../../../test/support/history.ts';
import { Broken, lasts, until } from '../nemesis.ts';
import type { Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { isText, keysOf, Scenario, scenarioOf } from './scenario.ts';

/** Several rounds of replication. */
const ROUNDS_MS = 3_000;
/** Repair usually takes about three seconds; with a bug it never ends. */
const REPAIR_MS_MAX = 15_000;
/** For three seconds, so that some writes are old enough to be offered and others are too young. */
const MISSED_ROUNDS = 15;
const MISSED_PAUSE_MS = 200;
const READY_MS_MAX = 30_000;
const READS = 4;
const READ_PAUSE_MS = 500;

/** A device with a full disk misses updates of records whose first versions are confirmed. */
export const missedUpdates = scenarioOf('a device that missed updates', async (scenario) => {
  const { signal } = scenario;
  const [a, , c] = scenario.cast;
  await lasts(ROUNDS_MS, signal);
  await scenario.suffer({ diskFull: true }, c);
  // The device notices the full disk at one of the next writes.
  for (let round = 0; !signal.aborted; round += 1) {
    await scenario.askAll(a, { text: `after ${round}` });
    const held = await scenario.askAll(c, { level: 'one' });
    if (!held.some(isText(`after ${round}`))) break;
  }
  await scenario.askAll(a, { text: 'last' });
  await lasts(ROUNDS_MS, signal);
  await scenario.suffer({ diskFull: false }, c);
  await requireLast(scenario, c);
});

/** One coordinator's writes do not reach a device; another holder repairs it under writes. */
export const missedWrites = scenarioOf('a device that missed writes', async (scenario) => {
  const { signal } = scenario;
  const [a, , c] = scenario.cast;
  scenario.hold([a, c]);
  for (let round = 0; round < MISSED_ROUNDS && !signal.aborted; round += 1) {
    await scenario.askAll(a, { text: `after ${round}` });
    await lasts(MISSED_PAUSE_MS, signal);
  }
  await scenario.askAll(a, { text: 'last' });
  await requireLast(scenario, c);
});

/** Throws when the server still lacks some of the last writes after a while. */
async function requireLast(scenario: Scenario, victim: Victim): Promise<void> {
  const repaired = { isSo: isText('last'), withinMs: REPAIR_MS_MAX };
  const open = await scenario.askUntil(victim, { level: 'one' }, repaired);
  if (open.length === 0 || scenario.signal.aborted) return;
  throw new Broken(`no convergence: ${victim.name} lacks ${open.join(', ')} after all that time`);
}

export const wipedDevice = scenarioOf('a wiped device', (scenario) =>
  loseOneOfTwo(scenario, (data) => fs.rmSync(data, { recursive: true })),
);

/** The other device has all records of a partition, but is unreachable; no third device has any. */
export const putBackDevice = scenarioOf('a device put back', async (scenario) => {
  const { stage, signal } = scenario;
  const [a, b, c] = scenario.cast;
  const keys = await untouchedKeys(stage);
  await c.end('stop');
  const backup = identityOf(c.server.place.data);
  await c.start();
  // Peers that have called the device remember its later generation from then on.
  const settled = { level: 'all', text: 'settled' } as const;
  for (const peer of [a, b]) {
    await until(signal, async () => (await scenario.askAll(peer, settled)).every(isAcked));
  }
  await loseOneOfTwo(new Scenario(stage, keys, signal), (data) => {
    fs.rmSync(data, { recursive: true });
    fs.mkdirSync(data, { mode: 0o700 });
    for (const { name, bytes } of backup) {
      fs.writeFileSync(path.join(data, name), bytes, { mode: 0o600 });
    }
  });
});

let lastPartition = 0;

/** Returns keys of another partition in each play. Skips the first one, which has records. */
async function untouchedKeys(stage: Stage): Promise<string[]> {
  const ring = await stage.head();
  lastPartition = (lastPartition + 1) % partitionCountOf(ring.partitioner);
  return keysOf(ring, { play: stage.history.length, partition: lastPartition });
}

/** Returns identity and generation of a device, as in a backup from before its first ring. */
function identityOf(data: string): { readonly name: string; readonly bytes: Buffer }[] {
  const names = ['device.json', 'device-key.pem', 'life.json'];
  return names.map((name) => ({ name, bytes: fs.readFileSync(path.join(data, name)) }));
}

/** Of the only two devices with a record, one loses it, and the other is unreachable. */
async function loseOneOfTwo(scenario: Scenario, lose: (data: string) => void): Promise<void> {
  const { signal } = scenario;
  const { network } = scenario.stage;
  const [a, b, c] = scenario.cast;
  scenario.hold([a, b], [c, b]);
  await scenario.askAll(c, { text: 'after' });
  for (const { place } of [b, c]) network.separate(a.place.number, place.number);
  await c.end('kill');
  lose(c.server.place.data);
  scenario.release([c, b]);
  await c.start();
  for (let read = 0; read < READS; read += 1) {
    await Promise.all([scenario.askAll(b, {}), lasts(READ_PAUSE_MS, signal)]);
  }
  network.reset(a.place.number, b.place.number);
  network.reset(a.place.number, c.place.number);
  network.heal();
  await scenario.askUntil(c, {}, { isSo: isText('after'), withinMs: READY_MS_MAX });
}
