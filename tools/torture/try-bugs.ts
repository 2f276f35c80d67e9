// Every seeded bug has to be found: runs with each in turn, and a table of what found it.
import fs from 'node:fs/promises';
import type { SeededBug } from './bugs/seeded-bug.ts';
import { tortureRun } from './torture-run.ts';

export interface BugTrial {
  readonly name: string;
  /** The first violation; null when all runs were clean. */
  readonly found: string | null;
  readonly runs: number;
  readonly seconds: number;
}

export interface TrialShape {
  readonly seed: number;
  /** Of one run. */
  readonly seconds: number;
  /** With other seeds, before the bug counts as missed. */
  readonly runsMax: number;
  readonly onProgress: (line: string) => void;
}

/** Shorter than a real run may take: bugs that keep replicas apart keep them apart for ever. */
const CONVERGE_MS = 30_000;

/** Ends with the first run that has a violation. A vacuous run has none. */
export async function tryBug(bug: SeededBug, shape: TrialShape): Promise<BugTrial> {
  const begunMs = performance.now();
  let found: string | null = null;
  let runs = 0;
  while (found === null && runs < shape.runsMax) {
    const { violations, folder } = await tortureRun({
      ...shape,
      seed: shape.seed + runs,
      servers: 3,
      nemeses: bug.nemeses,
      patches: bug.patches,
      convergeMs: CONVERGE_MS,
      endsEarly: true,
    });
    await fs.rm(folder, { recursive: true, force: true });
    runs += 1;
    found = violations.find((violation) => !violation.startsWith('vacuous')) ?? null;
  }
  return { name: bug.name, found, runs, seconds: (performance.now() - begunMs) / 1_000 };
}

export function printTrials(trials: readonly BugTrial[]): string {
  const width = Math.max(...trials.map(({ name }) => name.length));
  const lines = trials.map(({ name, found, runs, seconds }) => {
    const how = found === null ? 'MISSED' : `${found.split(':')[0]}`;
    return `${name.padEnd(width)}  ${how.padEnd(16)}  ${runs} runs, ${Math.round(seconds)} s`;
  });
  const missed = trials.filter(({ found }) => found === null).length;
  const verdict =
    missed === 0 ? `all ${trials.length} bugs were found` : `${missed} of ${trials.length} missed`;
  return `${[...lines, verdict].join('\n')}\n`;
}
