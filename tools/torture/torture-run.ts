// One run: a stage, a workload, nemeses for a while, then recovery; then every promise is checked.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '@ringwright/base/random';
import { violationsOf } from '../../test/support/history.ts';
import type { Operation } from '../../test/support/history-operation.ts';
import { coverageGaps, neverFired } from './coverage-gaps.ts';
import { Broken, lasts, type Nemesis, until } from './nemesis.ts';
import type { SourcePatch } from './source-patches.ts';
import { type FaultWindow, Stage } from './stage.ts';
import { tuning } from './tuning.ts';
import { Workload } from './workload.ts';

export interface RunShape {
  readonly seed: number;
  readonly seconds: number;
  readonly servers: number;
  readonly nemeses: readonly Nemesis[];
  /** Whether to use TLS, signed rings and tokens, as outside loopback. */
  readonly isSecured: boolean;
  /** Patches of a seeded bug, besides the tuning of every run. */
  readonly patches: readonly SourcePatch[];
  /** Whether the first violation ends the run. */
  readonly endsEarly: boolean;
  /** Called regularly with the progress. */
  readonly onProgress: (line: string) => void;
}

export interface RunResult {
  /** Broken promises. */
  readonly violations: readonly string[];
  /** Why a run without violations proves less than it should. */
  readonly gaps: readonly string[];
  readonly operations: readonly Operation[];
  readonly faults: readonly FaultWindow[];
  /** Names of the failpoints that ended servers. */
  readonly fired: readonly string[];
  /** Figures from the nemeses. */
  readonly notes: readonly string[];
  readonly seconds: number;
  /** Folder with data, logs and history. */
  readonly folder: string;
}

const PROGRESS_MS = 10_000;
const LOOK_MS = 1_000;
/** Time without faults, at the start and at the end. */
const QUIET_MS = 1_000;
const PAUSE_MS_MAX = 1_500;
/** Operations acknowledged between two strikes of one nemesis, as far as the others permit. */
const ACKED_BETWEEN_STRIKES = 100;
const RECOVERY_MS_MAX = 8_000;
/** For a busy machine; an idle one takes a few seconds. */
const CONVERGE_MS = 120_000;
/** Shorter, because bugs that keep replicas unequal do so forever. */
const BUG_CONVERGE_MS = 30_000;
const REMOVE_TRIES_MAX = 10;

export async function tortureRun(shape: RunShape): Promise<RunResult> {
  const begunMs = performance.now();
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-torture-'));
  await using stage = await Stage.open({
    folder,
    servers: shape.servers,
    partitions: 8 + 8 * (shape.seed % 2),
    patches: [...tuning, ...shape.patches],
    bug: shape.patches,
    isSecured: shape.isSecured,
  });
  const workload = await begin(stage, shape);
  const operations = stage.history;
  const troubles = await torment(stage, workload, shape);
  const isOver = shape.endsEarly && (troubles.length > 0 || brokenIn(stage).length > 0);
  const notes: string[] = [];
  if (!isOver) troubles.push(...(await aftermath(stage, workload, { ...shape, notes })));
  await workload.stop();
  const crashes = stage.victims.flatMap((victim) => victim.crashes);
  const violations = [...troubles, ...crashes, ...brokenIn(stage)];
  const fired = stage.victims.flatMap((victim) => victim.fired());
  const isAlone = shape.nemeses.some((nemesis) => nemesis.isAlone);
  const eventNames = [...stage.faults.map(({ name }) => name), ...fired];
  const gaps = [
    ...(isAlone ? [] : coverageGaps(operations, stage.faults)),
    ...neverFired(shape, eventNames),
  ];
  const lines = operations.map((operation) => `${JSON.stringify(operation)}\n`);
  await fs.writeFile(path.join(folder, 'history.jsonl'), lines.join(''));
  return {
    violations,
    gaps,
    operations,
    faults: stage.faults,
    fired,
    notes,
    seconds: (performance.now() - begunMs) / 1_000,
    folder,
  };
}

function brokenIn({ history, archived }: Stage): string[] {
  return violationsOf([...history, ...archived]);
}

/** Other operations would spoil scenarios, so no workers run then. */
function begin(stage: Stage, { seed, nemeses }: RunShape): Promise<Workload> {
  const isAlone = nemeses.some((nemesis) => nemesis.isAlone);
  return isAlone ? Promise.resolve(new Workload(stage)) : Workload.begin(stage, seed);
}

/** Lets all nemeses strike repeatedly and concurrently until the end. Returns their errors. */
async function torment(stage: Stage, workload: Workload, shape: RunShape): Promise<string[]> {
  const found = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(shape.seconds * 1_000), found.signal]);
  const progress = setInterval(() => {
    const { length } = stage.history;
    shape.onProgress(`${length} operations, ${stage.faults.length} faults`);
  }, PROGRESS_MS);
  const breakTimer = setInterval(() => {
    if (shape.endsEarly && brokenIn(stage).length > 0) found.abort();
  }, LOOK_MS);
  await lasts(QUIET_MS, signal);
  const troubles = await Promise.all(
    shape.nemeses.map((nemesis, index) => {
      const random = seededRandom(shape.seed * 31 + index);
      return strikes(stage, nemesis, { random, signal, workload });
    }),
  );
  clearInterval(progress);
  clearInterval(breakTimer);
  return troubles.flat();
}

async function strikes(
  stage: Stage,
  nemesis: Nemesis,
  work: {
    readonly random: Random;
    readonly signal: AbortSignal;
    readonly workload: Workload;
  },
): Promise<string[]> {
  const { random, signal, workload } = work;
  while (!signal.aborted) {
    try {
      await nemesis.strike(stage, random, signal);
    } catch (error) {
      if (error instanceof Broken) return [error.message];
      const description = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return [`nemesis ${nemesis.name}: ${description}`];
    }
    if (nemesis.isAlone) continue;
    await lasts(random.below(PAUSE_MS_MAX), signal);
    // A cluster that is never up has nothing to lose.
    const enough = workload.acked + ACKED_BETWEEN_STRIKES;
    await until(signal, () => workload.acked >= enough, RECOVERY_MS_MAX);
  }
  return [];
}

/** After all faults: waits for equal replicas, reads everything back, and audits the files. */
async function aftermath(
  stage: Stage,
  workload: Workload,
  { endsEarly, nemeses, notes }: RunShape & { readonly notes: string[] },
): Promise<string[]> {
  const convergeMs = endsEarly ? BUG_CONVERGE_MS : CONVERGE_MS;
  const troubles: string[] = [];
  try {
    await stage.calm();
    await delay(QUIET_MS);
    await workload.stop();
    for (const { prove } of nemeses) {
      const proof = await prove?.(stage, convergeMs);
      troubles.push(...(proof?.troubles ?? []));
      notes.push(...(proof?.notes ?? []));
    }
    await stage.converge(convergeMs);
  } catch (error) {
    return [...troubles, `no convergence: ${String(error)}`];
  }
  await workload.readBack();
  return [...troubles, ...(await stage.stopAndCheckFiles())];
}

/** Retries, because helper processes of a killed server may still write files for a moment. */
export async function removeRun(folder: string): Promise<void> {
  await fs.rm(folder, { recursive: true, force: true, maxRetries: REMOVE_TRIES_MAX });
}
