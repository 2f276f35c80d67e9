// Disks: failing or slow syncs, full disks, flipped bits in stored records, and wiped devices.
import fs from 'node:fs';
import path from 'node:path';
import { pick, type Random } from '@ringwright/base/random';
import { deviceKeyFile } from '@ringwright/server/device/device-key';
import { lasts, type Nemesis, until } from '../nemesis.ts';
import { keyspace, losses, type Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { isUp } from './kill.ts';

const TROUBLE_MS_MAX = 5_000;
const SLOW_SYNC_MS_MAX = 800;
/** Two scrub cycles at the speed of a torture run, and a refill. */
const REPAIR_MS_MAX = 20_000;
const FILLER = '....';
/** Longer than the filler of a small value: the next hit is in another record. */
const FLIP_EVERY_BYTES = 64;

interface Strike {
  readonly stage: Stage;
  readonly victim: Victim;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface Trouble {
  readonly name: string;
  /** Whether this device loses acknowledged records. */
  readonly loses: boolean;
  readonly inject: (strike: Strike) => Promise<void>;
}

const troubles: readonly Trouble[] = [
  { name: 'disk: sync fails', loses: false, inject: failSync },
  { name: 'disk: slow syncs', loses: false, inject: slowSyncs },
  { name: 'disk: no room', loses: false, inject: fillDisk },
  { name: 'disk: flipped bits', loses: true, inject: flipBits },
  { name: 'disk: wiped', loses: true, inject: wipe },
];

export const disk: Nemesis = nemesisOf('disks', troubles);

/** Flipped bits only. */
export const flips: Nemesis = nemesisOf('flipped bits', [
  { name: 'disk: flipped bits', loses: true, inject: flipBits },
]);

function nemesisOf(name: string, from: readonly Trouble[]): Nemesis {
  return {
    name,
    async strike(stage, random, signal) {
      const trouble = pick(random, from);
      const victim = pick(random, stage.victims);
      const injectFault = (): Promise<void> =>
        stage.fault(trouble.name, [victim], () =>
          trouble.inject({ stage, victim, random, signal }),
        );
      await (trouble.loses ? stage.turns.run(losses, injectFault) : injectFault());
    },
  };
}

/**
 * The server exits because of it, and its supervisor restarts it. Waits until the server is up
 * first, because one that is still starting would count as unable to start.
 */
async function failSync({ victim, signal }: Strike): Promise<void> {
  await isUp(victim);
  victim.set({ syncFails: true });
  await until(signal, () => !victim.control.syncFails, TROUBLE_MS_MAX);
  victim.set({ syncFails: false });
}

async function slowSyncs({ victim, random, signal }: Strike): Promise<void> {
  victim.set({ syncDelayMs: random.below(SLOW_SYNC_MS_MAX) });
  await lasts(random.below(TROUBLE_MS_MAX), signal);
  victim.set({ syncDelayMs: 0 });
}

async function fillDisk({ victim, random, signal }: Strike): Promise<void> {
  victim.set({ diskFull: true });
  await lasts(random.below(TROUBLE_MS_MAX), signal);
  victim.set({ diskFull: false });
}

/** Keeps the device key where rings name keys: another key would require a change of the ring. */
async function wipe({ stage, victim, signal }: Strike): Promise<void> {
  await victim.end('kill');
  const { data } = victim.server.place;
  const key = stage.secured === null ? null : fs.readFileSync(deviceKeyFile(data));
  fs.rmSync(data, { recursive: true });
  if (key !== null) {
    fs.mkdirSync(data, { mode: 0o700 });
    fs.writeFileSync(deviceKeyFile(data), key, { mode: 0o600 });
  }
  await victim.start();
  await isWhole(stage, victim, signal);
}

/** Flips bits in the values of a partition file, so that the damage is in records. */
async function flipBits({ stage, victim, random, signal }: Strike): Promise<void> {
  // Stopped, not killed: pages of a remaining WAL would hide the damaged ones.
  await victim.end('stop');
  const home = path.join(victim.server.place.data, 'partitions', keyspace);
  // A device that the ring does not name, or no longer, has no partitions. New files do not count
  // yet.
  const folders = victim.partitions().map((partition) => path.join(home, String(partition)));
  const partitions = folders.filter((folder) => !currentOf(folder).startsWith('new '));
  if (partitions.length === 0) return victim.start();
  const partition = pick(random, partitions);
  const current = currentOf(partition);
  const isHit = flip(path.join(partition, current.trim(), 'data.db'), random);
  await victim.start();
  if (isHit) await until(signal, () => currentOf(partition) !== current, REPAIR_MS_MAX);
  await isWhole(stage, victim, signal);
}

function currentOf(partition: string): string {
  const file = path.join(partition, 'CURRENT');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

/** Flips one bit in every filler after a random place: values end with fillers. */
function flip(file: string, random: Random): boolean {
  const bytes = fs.readFileSync(file);
  const first = bytes.indexOf(FILLER, random.below(bytes.length));
  for (let at = first; at !== -1; at = bytes.indexOf(FILLER, at + FLIP_EVERY_BYTES)) {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
  fs.writeFileSync(file, bytes);
  return first !== -1;
}

/** Waits until every partition that a ring assigns to the device has all its records again. */
async function isWhole(stage: Stage, victim: Victim, signal: AbortSignal): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const status = await victim.server.status().catch(() => null);
    if (status?.ready !== true) return false;
    const names = status.rings.map(({ ring }) => ring);
    const others = stage.others.filter(({ members }) => members.includes(victim));
    const isListed = others.every(({ keyspace: name }) => names.includes(name));
    return isListed && names.length > others.length;
  };
  await until(signal, isReady);
}
