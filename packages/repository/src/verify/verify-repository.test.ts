// Verification of a ring's folder: edited bytes, cut or rewritten logs, and stray files.
import { readFile, writeFile } from 'node:fs/promises';
import { seededRandom } from '@ringwright/base/random';
import type { Staged } from '@ringwright/builder/state/change';
import { beforeAll, expect, test } from 'vitest';
import { appendPush } from '../../../../test/support/note-push.ts';
import { people, testRoot } from '../../../../test/support/signing.ts';
import {
  author,
  filesOf,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../../test/support/small-repository.ts';
import { commitVersion } from '../commit-version.ts';
import { parseBuilderFile, printBuilderFile } from '../folder/builder-file.ts';
import { type LogEntry, lineHash, logLine } from '../folder/log-entry.ts';
import { logLines } from '../folder/read-log.ts';
import { readVersion } from '../folder/read-version.ts';
import { stagedChangesOf } from '../folder/staged-section.ts';
import { openRing } from '../open-ring.ts';
import { beginTrust } from '../rotate-trust.ts';
import { stage } from '../stage-changes.ts';
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

/** Number of bytes edited per file. EVERY_BYTE=1 edits all of them, which takes minutes. */
const bytesPerFile = process.env['EVERY_BYTE'] === '1' ? Number.POSITIVE_INFINITY : 60;

/** Edits bytes of every file, one at a time, and returns those that verify does not find. */
async function missedBytes(folder: string): Promise<string[]> {
  expect(await verifyRepository(folder, 'cities', null)).toMatchObject({
    findings: [],
    outside: [],
  });
  const random = seededRandom(seed);
  const missed: string[] = [];
  for (const path of (await filesOf(folder)).keys()) {
    const whole = await readFile(path);
    const step = Math.max(1, Math.ceil(whole.length / bytesPerFile));
    for (let at = random.below(step); at < whole.length; at += step) {
      const edited = Buffer.from(whole);
      edited[at] = (whole[at] ?? 0) ^ (1 + random.below(255));
      await writeFile(path, edited);
      const { findings } = await verifyRepository(folder, 'cities', null);
      if (findings.length === 0) missed.push(`SEED=${seed}: byte ${at} of ${path}`);
    }
    await writeFile(path, whole);
  }
  expect((await verifyRepository(folder, 'cities', null)).findings).toEqual([]);
  return missed;
}

const setWeight = {
  command: 'ring-builder set-weight cities d0 3',
  changesOf: () => [{ kind: 'set-weight' as const, id: 0, weight: 3 }],
};

test(`verify finds any edited byte (SEED=${seed})`, { timeout: 900_000 }, async () => {
  expect(await missedBytes(rings)).toEqual([]);
});

test('every flipped bit of a builder.json with staged changes is found', async () => {
  const fresh = await scratchRings();
  await stageDevices(fresh, 3);
  await stage({ rings: fresh, ring: 'cities' }, author, setWeight);
  const whole = await readFile(`${fresh}/cities/builder.json`);
  expect(parseBuilderFile(whole.toString())).toBeTypeOf('object');
  const missed: string[] = [];
  for (let bit = 0; bit < whole.length * 8; bit += 1) {
    const edited = Buffer.from(whole);
    edited[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const text = edited.toString();
    if (typeof parseBuilderFile(text) !== 'string') missed.push(`bit ${bit}`);
  }
  expect(missed).toEqual([]);
});

test('edited bytes of a ring without versions are found', { timeout: 900_000 }, async () => {
  const fresh = await scratchRings();
  await stageDevices(fresh, 2);
  expect(await missedBytes(fresh)).toEqual([]);
});

test('edited bytes of a signed folder with changes are found', { timeout: 900_000 }, async () => {
  const signed = await scratchRings();
  const root = testRoot({ cluster: 'default', root: people.root.slice(0, 1), rootThreshold: 1 });
  const [rootKey, ringKey] = [people.root[0], people.ring[0]];
  if (rootKey === undefined || ringKey === undefined) throw new Error('no keys');
  await beginTrust(signed, author, { root, keys: [rootKey.privateKey] });
  await stageDevices(signed);
  await commitVersion(signed, { ...(await nextVersion(signed)), key: ringKey.privateKey });
  await stage({ rings: signed, ring: 'cities' }, author, setWeight);
  expect(await missedBytes(signed)).toEqual([]);
});

test('a builder.json without a digest is read, and the next staged change adds one', async () => {
  const old = await scratchRings();
  const path = `${old}/cities/builder.json`;
  const undigested = (await readFile(path, 'utf8')).replace(/,\n {2}"digest": .*/, '');
  await writeFile(path, undigested);
  expect(await verifyRepository(old, 'cities', null)).toMatchObject({
    findings: [],
    digested: false,
  });
  await stageDevices(old);
  expect(await verifyRepository(old, 'cities', null)).toMatchObject({
    findings: [],
    digested: true,
  });
  const [{ user, time }] = (await openRing(old, 'cities')).staged.slice(-1) as [Staged];
  expect({ user, time }).toEqual(author);
});

test('temporary files and locks are listed as outside, and other files are findings', async () => {
  const folder = await scratchRings();
  await writeFile(`${folder}/cities/.tmp-1-log.jsonl`, 'x');
  await writeFile(`${folder}/cities/.lock-db1-1-1`, 'x');
  expect(await verifyRepository(folder, 'cities', null)).toMatchObject({
    findings: [],
    outside: ['cities/.lock-db1-1-1', 'cities/.tmp-1-log.jsonl'],
  });
  await writeFile(`${folder}/cities/notes.txt`, 'x');
  const { findings } = await verifyRepository(folder, 'cities', null);
  expect(findings).toMatchObject([{ code: 'FILE_STRAY' }]);
});

test('a log without its last lines is found', async () => {
  const path = `${rings}/cities/log.jsonl`;
  const whole = await readFile(path, 'utf8');
  await writeFile(path, whole.slice(0, whole.indexOf('\n') + 1));
  const { findings } = await verifyRepository(rings, 'cities', null);
  expect(findings.map(({ code }) => code)).toContain('LOG_END_WRONG');
  await writeFile(path, whole);
});

test('a log that claims other staged changes than the version file has is found', async () => {
  const at = (name: string): string => `${rings}/cities/${name}`;
  const [log, builder] = [
    await readFile(at('log.jsonl'), 'utf8'),
    await readFile(at('builder.json'), 'utf8'),
  ];
  const parsed = await readVersion(rings, 'cities', 1);
  expect(stagedChangesOf(parsed.extraSections)?.map(({ kind }) => kind)).toEqual(
    Array(4).fill('add'),
  );
  // Someone rewrites the whole log and builder.json. Only the version's file reveals it.
  let end: string | null = null;
  const lines = logLines(log).map((line) => {
    const { staged, ...entry } = JSON.parse(line) as LogEntry;
    const other = staged === undefined ? {} : { staged: '0'.repeat(64) };
    const rewritten = logLine({ ...entry, ...other, previous: end });
    end = lineHash(rewritten);
    return rewritten;
  });
  await writeFile(at('log.jsonl'), `${lines.join('\n')}\n`);
  const parsedFile = parseBuilderFile(builder);
  if (typeof parsedFile === 'string') throw new Error(parsedFile);
  await writeFile(at('builder.json'), printBuilderFile({ ...parsedFile, log: end }));
  const { findings } = await verifyRepository(rings, 'cities', null);
  expect(findings.map(({ code }) => code)).toEqual(['STAGED_CONTENT_WRONG']);
  await writeFile(at('log.jsonl'), log);
  await writeFile(at('builder.json'), builder);
});
