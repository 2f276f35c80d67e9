// Short torture runs: a cluster survives seconds of kills and network partitions, and the checker
// finds seeded bugs.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { seededBugs } from './bugs/all.ts';
import { patchesOf } from './bugs/seeded-bug.ts';
import { kill } from './nemeses/kill.ts';
import { part } from './nemeses/part.ts';
import { rings } from './nemeses/rings.ts';
import { rotate } from './nemeses/rotate.ts';
import { checkPatches, failpointNames } from './source-patches.ts';
import { type RunShape, removeRun, tortureRun } from './torture-run.ts';
import { tuning } from './tuning.ts';

const short: RunShape = {
  seed: 6,
  seconds: 5,
  servers: 3,
  nemeses: [kill, part],
  isSecured: false,
  patches: [],
  endsEarly: false,
  onProgress: () => undefined,
};

// Each run reuses the code that earlier runs have compiled.
beforeAll(() => {
  process.env['NODE_COMPILE_CACHE'] = mkdtempSync(path.join(tmpdir(), 'ringwright-compiled-'));
});

test('every seeded bug applies to the sources, and the failpoints exist', () => {
  expect(seededBugs.length).toBeGreaterThanOrEqual(12);
  for (const bug of seededBugs) checkPatches([...tuning, ...patchesOf(bug)]);
  expect(failpointNames().length).toBeGreaterThanOrEqual(30);
});

test('kills, network partitions and new certificates violate no guarantee', {
  timeout: 180_000,
}, async () => {
  const nemeses = [kill, part, rotate];
  const { violations, folder } = await tortureRun({ ...short, nemeses, isSecured: true });
  const replay = `npm run torture -- --nemesis k,p --secure --seed ${short.seed}; ${folder}`;
  expect(violations, replay).toEqual([]);
  await removeRun(folder);
});

/** One bug for each check of a run, found at the first fault. `torture -- --bugs` tries all. */
test.each([
  ['replay-skips-last-frame', 'lost ack'],
  ['bootstrap-from-any', 'receipt of partition'],
  ['restore-over-newer', 'restored: '],
])(
  'the checker finds the seeded bug %s',
  async (name, expected) => {
    const bug = seededBugs.find((one) => one.name === name)!;
    const broken = { nemeses: bug.nemeses, patches: patchesOf(bug) };
    const shape: RunShape = { ...short, ...broken, seconds: 90, endsEarly: true };
    const { violations, folder } = await tortureRun(shape);
    await removeRun(folder);
    expect(violations.join('\n')).toContain(expected);
  },
  240_000,
);

test('ring changes with crashing servers violate no guarantee', { timeout: 300_000 }, async () => {
  // With this seed the joiner crashes when it has its first copy.
  const shape = { ...short, seed: 12, seconds: 8, nemeses: [rings] };
  const { violations, folder } = await tortureRun(shape);
  const replay = `npm run torture -- --nemesis rings --seed ${shape.seed}; ${folder}`;
  expect(violations, replay).toEqual([]);
  await removeRun(folder);
});
