// Every seeded bug must be found: runs with each in turn, and prints which check found it.
import { printTable } from '@ringwright/base/print-table';
import { patchesOf, type SeededBug } from './bugs/seeded-bug.ts';
import { removeRun, tortureRun } from './torture-run.ts';

export interface BugTrial {
  readonly name: string;
  /** The first violation; null when all runs were clean. */
  readonly found: string | null;
  readonly runs: number;
  readonly seconds: number;
}

interface TrialShape {
  readonly seed: number;
  /** Durations of successive runs, each with another seed, before the bug counts as missed. */
  readonly seconds: readonly number[];
  readonly onProgress: (line: string) => void;
}

/** Ends with the first run that has a violation. */
export async function tryBug(bug: SeededBug, shape: TrialShape): Promise<BugTrial> {
  const begunMs = performance.now();
  let found: string | null = null;
  let runs = 0;
  for (const seconds of shape.seconds) {
    const { violations, folder } = await tortureRun({
      ...shape,
      seed: shape.seed + runs,
      seconds,
      servers: 3,
      nemeses: bug.nemeses,
      isSecured: false,
      patches: patchesOf(bug),
      endsEarly: true,
    });
    await removeRun(folder);
    runs += 1;
    found = violations[0] ?? null;
    if (found !== null) break;
  }
  return { name: bug.name, found, runs, seconds: (performance.now() - begunMs) / 1_000 };
}

/** Returns a table: bug, the check that caught it, and how long that took. */
export function printTrials(trials: readonly BugTrial[]): string {
  const lines = printTable(trials, [
    { head: 'bug', cell: ({ name }) => name },
    { head: 'caught by', cell: ({ found }) => (found === null ? 'MISSED' : checkOf(found)) },
    { head: 'runs', cell: ({ runs }) => runs },
    { head: 'seconds', cell: ({ seconds }) => Math.round(seconds) },
  ]);
  const missed = trials.filter(({ found }) => found === null).length;
  const verdict =
    missed === 0 ? `all ${trials.length} bugs were found` : `${missed} of ${trials.length} missed`;
  return `${[...lines, verdict].join('\n')}\n`;
}

/** Returns the check, which the first words of a violation name. */
function checkOf(violation: string): string {
  return (
    /^(?:sd\d+: |nemesis [^:]+: (?:Error: )?)?(.+?)(?: of |:|$)/.exec(violation)?.[1] ?? violation
  );
}
