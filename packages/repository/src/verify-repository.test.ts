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
import { type LogEntry, lineHash, logLine } from './log-entry.ts';
import { logLines } from './read-log.ts';
import { readVersion } from './read-version.ts';
import { stagedChangesOf } from './staged-section.ts';
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

test('the same commands, and other changes than the version was made of', async () => {
  const at = (name: string): string => `${rings}/cities/${name}`;
  const [log, builder] = [
    await readFile(at('log.jsonl'), 'utf8'),
    await readFile(at('builder.json'), 'utf8'),
  ];
  const parsed = await readVersion(rings, 'cities', 1);
  expect(stagedChangesOf(parsed.extraSections)?.map(({ kind }) => kind)).toEqual(
    Array(4).fill('add'),
  );
  // Whoever rewrites the whole log and what follows it: only the version's file tells.
  let end: string | null = null;
  const lines = logLines(log).map((line) => {
    const { staged, ...entry } = JSON.parse(line) as LogEntry;
    const other = staged === undefined ? {} : { staged: '0'.repeat(64) };
    const rewritten = logLine({ ...entry, ...other, previous: end });
    end = lineHash(rewritten);
    return rewritten;
  });
  await writeFile(at('log.jsonl'), `${lines.join('\n')}\n`);
  await writeFile(at('builder.json'), builder.replace(/"log": "[0-9a-f]+"/, `"log": "${end}"`));
  const { findings } = await verifyRepository(rings, 'cities');
  expect(findings.map(({ code }) => code)).toEqual(['STAGED_CONTENT_WRONG']);
  await writeFile(at('log.jsonl'), log);
  await writeFile(at('builder.json'), builder);
});
