import { readFile, writeFile } from 'node:fs/promises';
import { seededRandom } from '@ringwright/base/random';
import { beforeAll, expect, test } from 'vitest';
import {
  author,
  filesOf,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { appendPush } from './append-push.ts';
import { commitVersion } from './commit-version.ts';
import { verifyRepository } from './verify-repository.ts';

let rings = '';
beforeAll(async () => {
  rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  const head = await commitVersion(rings, await nextVersion(rings));
  const entry = { ...author, message: 'pushed', details: { accepted: 4 } };
  await appendPush({ rings, ring: 'cities' }, head, entry);
});

const seed = Number(process.env['SEED'] ?? 20261121);

test(`any edited byte is found (SEED=${seed})`, { timeout: 60_000 }, async () => {
  expect((await verifyRepository(rings, 'cities')).findings).toEqual([]);
  const random = seededRandom(seed);
  for (const path of (await filesOf(rings)).keys()) {
    const whole = await readFile(path);
    for (let round = 0; round < 60; round += 1) {
      const edited = Buffer.from(whole);
      const at = random.below(whole.length);
      edited[at] = (whole[at] ?? 0) ^ (1 + random.below(255));
      await writeFile(path, edited);
      const { findings } = await verifyRepository(rings, 'cities');
      expect(findings.length, `SEED=${seed}: byte ${at} of ${path}`).toBeGreaterThan(0);
    }
    await writeFile(path, whole);
  }
  expect((await verifyRepository(rings, 'cities')).findings).toEqual([]);
});

test('a log whose last lines were cut is found', async () => {
  const path = `${rings}/cities/log.jsonl`;
  const whole = await readFile(path, 'utf8');
  await writeFile(path, whole.slice(0, whole.indexOf('\n') + 1));
  const { findings } = await verifyRepository(rings, 'cities');
  expect(findings.map(({ code }) => code)).toContain('LOG_END_WRONG');
  await writeFile(path, whole);
});
