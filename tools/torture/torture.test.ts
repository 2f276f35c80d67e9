// A short torture in every run of the tests: seconds of kills and network partitions are survived,
// and the checker still finds bugs that are put in.
import fs from 'node:fs/promises';
import { expect, test } from 'vitest';
import { seededBugs } from './bugs/all.ts';
import { kill } from './nemeses/kill.ts';
import { part } from './nemeses/part.ts';
import { checkPatches, failpointNames } from './source-patches.ts';
import { type RunShape, tortureRun } from './torture-run.ts';
import { tuning } from './tuning.ts';

const short: RunShape = {
  seed: 6,
  seconds: 5,
  servers: 3,
  nemeses: [kill, part],
  patches: [],
  convergeMs: 60_000,
  endsEarly: false,
  onProgress: () => undefined,
};

test('every seeded bug still fits the sources, and failpoints are there', () => {
  expect(seededBugs.length).toBeGreaterThanOrEqual(12);
  for (const { patches } of seededBugs) checkPatches([...tuning, ...patches]);
  expect(failpointNames().length).toBeGreaterThanOrEqual(30);
});

test('kills and network partitions break no promise', { timeout: 180_000 }, async () => {
  const { violations, folder } = await tortureRun(short);
  const vacuous = violations.filter((violation) => violation.startsWith('vacuous'));
  expect(violations, `npm run torture -- --nemesis k,p --seed ${short.seed}; ${folder}`).toEqual(
    vacuous,
  );
  await fs.rm(folder, { recursive: true, force: true });
});

test.each(['read-quorum-short', 'errors-count-as-absent'])(
  'finds %s',
  async (name) => {
    const bug = seededBugs.find((one) => one.name === name)!;
    const { violations, folder } = await tortureRun({
      ...short,
      seconds: 60,
      endsEarly: true,
      nemeses: bug.nemeses,
      patches: bug.patches,
    });
    await fs.rm(folder, { recursive: true, force: true });
    expect(violations.join('\n')).toMatch(/lost ack|not monotonic/);
  },
  180_000,
);
