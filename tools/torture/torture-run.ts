// One run: a stage, a workload, nemeses for a while, then healing; and every promise is checked.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Random, seededRandom } from '@ringwright/base/random';
import { type Operation, violationsOf } from '../../test/support/history.ts';
import { lasts, type Nemesis } from './nemesis.ts';
import type { SourcePatch } from './source-patches.ts';
import { type FaultWindow, Stage } from './stage.ts';
import { tuning } from './tuning.ts';
import { vacuities } from './vacuities.ts';
import { Workload } from './workload.ts';

export interface RunShape {
  readonly seed: number;
  readonly seconds: number;
  readonly servers: number;
  readonly nemeses: readonly Nemesis[];
  /** Seeded bugs, besides the tuning of every run. */
  readonly patches: readonly SourcePatch[];
  /** Told now and then how far it is. */
  readonly onProgress: (line: string) => void;
}

export interface RunResult {
  readonly violations: readonly string[];
  readonly operations: readonly Operation[];
  readonly faults: readonly FaultWindow[];
  /** How often each failpoint ended a server. */
  readonly failpoints: ReadonlyMap<string, number>;
  readonly seconds: number;
  /** Data, logs and history. */
  readonly folder: string;
}

const PROGRESS_MS = 10_000;
/** Without faults at first: every key gets something to lose. */
const QUIET_MS = 1_000;
const PAUSE_MS_MAX = 1_500;

export async function tortureRun(shape: RunShape): Promise<RunResult> {
  const begunMs = performance.now();
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-torture-'));
  await using stage = await Stage.open({
    folder,
    servers: shape.servers,
    partitions: 8 + 8 * (shape.seed % 2),
    patches: [...tuning, ...shape.patches],
  });
  const workload = await Workload.begin(stage, shape.seed);
  const troubles: string[] = [];
  await torment(stage, { shape, workload, troubles });
  const healed = await stage.heal().then(
    () => true,
    (error: unknown) => {
      troubles.push(`no convergence: ${String(error)}`);
      return false;
    },
  );
  await workload.stop();
  if (healed) await workload.readBack();
  workload.close();
  if (healed) troubles.push(...(await stage.stopAndCheckFiles()));
  const { operations } = workload;
  const { faults, victims } = stage;
  troubles.push(...victims.flatMap(({ crashes }) => crashes), ...violationsOf(operations));
  if (troubles.length === 0) troubles.push(...vacuities(operations, faults));
  const lines = operations.map((operation) => `${JSON.stringify(operation)}\n`);
  await fs.writeFile(path.join(folder, 'history.jsonl'), lines.join(''));
  return {
    violations: troubles,
    operations,
    faults,
    failpoints: counts(victims.flatMap((victim) => victim.fired())),
    seconds: (performance.now() - begunMs) / 1_000,
    folder,
  };
}

interface Torment {
  readonly shape: RunShape;
  readonly workload: Workload;
  readonly troubles: string[];
}

/** Every nemesis strikes again and again, side by side, until the time is up. */
async function torment(stage: Stage, { shape, workload, troubles }: Torment): Promise<void> {
  const signal = AbortSignal.timeout(shape.seconds * 1_000);
  const progress = setInterval(() => {
    const { length } = workload.operations;
    shape.onProgress(`${length} operations, ${stage.faults.length} faults`);
  }, PROGRESS_MS);
  await lasts(QUIET_MS, signal);
  await Promise.all(
    shape.nemeses.map(async (nemesis, index) => {
      const random: Random = seededRandom(shape.seed * 31 + index);
      while (!signal.aborted) {
        try {
          await nemesis.strike(stage, random, signal);
        } catch (error) {
          troubles.push(`nemesis ${nemesis.name}: ${String(error)}`);
          return;
        }
        await lasts(random.below(PAUSE_MS_MAX), signal);
      }
    }),
  );
  clearInterval(progress);
}

function counts(names: readonly string[]): ReadonlyMap<string, number> {
  const grouped = Map.groupBy(names, (name) => name);
  return new Map([...grouped].map(([name, all]) => [name, all.length]));
}
