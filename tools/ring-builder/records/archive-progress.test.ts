// Attack: somebody puts a part of an archive into its folder, so that the command continues and
// signs it.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import { expect, test } from 'vitest';
import { isVerified, progressPath, readProgress, saveProgress } from './archive-progress.ts';

const ours = generateKeyPairSync('ed25519');
const theirs = generateKeyPairSync('ed25519');
const keys = new Map([[keyIdOf(spkiOf(ours.publicKey)), ours.publicKey]]);
const archive = { ring: 'cities', partition: null };
const part = { ...archive, begunMs: 1, cursor: 'c', records: 2, bytes: 9, sha256: 'a'.repeat(64) };

/** Returns what the folder's progress is after `change`, and whether keys verify it. */
async function afterChange(change: (text: string) => string, key = ours.privateKey) {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  await saveProgress(folder, part, key);
  const file = progressPath(folder);
  await writeFile(file, change(await readFile(file, 'utf8')));
  const progress = await readProgress(folder, archive);
  return progress !== null && { progress, signed: isVerified(progress, keys) };
}

test('a part that a ring key signed is continued', async () => {
  const found = await afterChange((text) => text);
  expect(found).toMatchObject({ progress: part, signed: true });
});

test.each([
  ['has other bytes', (text: string) => text.replace('"sha256":"a', '"sha256":"b')],
  ['has another cursor', (text: string) => text.replace('"cursor":"c"', '"cursor":"d"')],
  ['has no signature', (text: string) => text.replace(/"signatures":\[.*\]/, '"signatures":[]')],
  ['is of an older release', () => JSON.stringify({ ...part, sha256: undefined })],
])('a part that %s is not', async (_, change) => {
  expect(await afterChange(change)).toMatchObject({ signed: false });
});

test('a part that another key signed is not, unless the archive will not be signed', async () => {
  const found = await afterChange((text) => text, theirs.privateKey);
  expect(found).toMatchObject({ signed: false });
  expect(found !== false && isVerified(found.progress, null)).toBe(true);
});
