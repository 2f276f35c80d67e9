// A signed rings folder: what is signed, what is refused, and that every edited byte is found.
import { link, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@ringwright/base/random';
import { withSignatures } from '@ringwright/ring/file/ring-container';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { spkiOf } from '@ringwright/ring/trust/public-key';
import { beforeAll, expect, test } from 'vitest';
import { appendPush } from '../../../test/support/note-push.ts';
import { people, testKey, testRoot } from '../../../test/support/signing.ts';
import {
  author,
  filesOf,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { approvalOf, requireApproved } from './approval.ts';
import { commitVersion, type VersionToCommit } from './commit-version.ts';
import { makesVersion } from './folder/log-entry.ts';
import { readVersion } from './folder/read-version.ts';
import { readTrust } from './folder/trust-file.ts';
import { beginTrust, rotateTrust, waitingRoot } from './rotate-trust.ts';
import { signVersion } from './sign-version.ts';
import { generateKey, listKeys, loadKey, protectKey } from './signing-key.ts';
import { verifyLog } from './verify/verify-log.ts';
import { verifyRepository } from './verify/verify-repository.ts';
import { signatureChecks } from './verify/verify-signatures.ts';

const [ada, bob] = people.ring.map(({ privateKey }) => privateKey);
const roots = people.root.map(({ privateKey }) => privateKey);
const place = (rings: string) => ({ rings, ring: 'cities' });
const coded = (code: string) => expect.objectContaining({ code });
const codesOf = async (rings: string, pin: string | null = null): Promise<string[]> => {
  const { findings } = await verifyRepository(rings, 'cities', pin);
  return findings.map(({ code }) => code);
};

/** Creates root 1 with three root keys (two required) and ring keys of ada, bob and eve. */
async function signedFolder(): Promise<string> {
  const rings = await scratchRings();
  const root = testRoot({ cluster: 'default' });
  await beginTrust(rings, author, { root, keys: roots.slice(0, 2) });
  await stageDevices(rings);
  return rings;
}

/** Returns the next version with every slot on another device. */
async function largeVersion(folder: string): Promise<VersionToCommit> {
  const next = await nextVersion(folder);
  const table = next.ring.table.map((row) => row.map((id) => (id + 2) % 4));
  return { ...next, ring: { ...next.ring, table } };
}

let rings = '';
beforeAll(async () => {
  rings = await signedFolder();
  const head = await commitVersion(rings, { ...(await nextVersion(rings)), key: ada });
  await appendPush(place(rings), head, { ...author, message: '', details: {} });
  const next = { ...(await largeVersion(rings)), override: 'a test turns everything round' };
  await commitVersion(rings, { ...next, key: ada });
  if (bob === undefined) throw new Error('no key');
  await signVersion(place(rings), author, { version: 2, key: bob });
});

test('a version is signed, names its root and the log line before it, and is sound', async () => {
  const { signing, bytes } = await readVersion(rings, 'cities', 'head');
  const trust = await readTrust(rings);
  expect(signing).toMatchObject({ epoch: 1, root: trust?.trust.id, large: true });
  expect(signing?.logHead).toMatch(/^[0-9a-f]{64}$/);
  const approval = approvalOf({ bytes, signing }, trust?.trust ?? null);
  expect(approval).toEqual({ signed: true, signers: ['ada', 'bob'], needed: 1, missing: 0 });
  expect(await codesOf(rings)).toEqual([]);
  expect(await codesOf(rings, trust?.trust.id)).toEqual([]);
  expect(await codesOf(rings, 'f'.repeat(64))).toEqual(['TRUST_FORK']);
});

const seed = Number(process.env['SEED'] ?? 20261121);
/** FLIPS=all edits every byte, which takes some minutes. */
const flips = process.env['FLIPS'] === 'all' ? Number.POSITIVE_INFINITY : 100;

test(`verify finds any edited byte (SEED=${seed})`, { timeout: 3_600_000 }, async () => {
  const random = seededRandom(seed);
  for (const path of (await filesOf(rings)).keys()) {
    const whole = await readFile(path);
    for (let round = 0; round < Math.min(flips, whole.length); round += 1) {
      const edited = Buffer.from(whole);
      const at = flips < whole.length ? random.below(whole.length) : round;
      edited[at] = (whole[at] ?? 0) ^ (1 + random.below(255));
      await writeFile(path, edited);
      const codes = await codesOf(rings);
      expect(codes.length, `SEED=${seed}: byte ${at} of ${path}`).toBeGreaterThan(0);
    }
    await writeFile(path, whole);
  }
  expect(await codesOf(rings)).toEqual([]);
});

const stripped = [
  ['all signatures are taken away', 0, ['SIGNATURE_INVALID', 'SIGNATURE_LOST', 'SIGNATURE_LOST']],
  ['the second signature is taken away', 1, ['SIGNATURE_LOST']],
] as const;

test.for(stripped)('verify finds that %s', async ([, kept, codes]) => {
  const path = join(rings, 'cities', 'versions', '0000002.ring');
  const whole = await readFile(path);
  await writeFile(path, withSignatures(whole, decodeRing(whole).signatures.slice(0, kept)));
  expect(await codesOf(rings)).toEqual(codes);
  await writeFile(path, whole);
});

test('a signed folder refuses unsigned versions, other keys and an expired root', async () => {
  const folder = await signedFolder();
  const version = await nextVersion(folder);
  await expect(commitVersion(folder, version)).rejects.toEqual(coded('SIGNING_KEY_UNKNOWN'));
  for (const key of [roots[0], testKey('mallory').privateKey]) {
    const refused = commitVersion(folder, { ...version, key });
    await expect(refused).rejects.toEqual(coded('SIGNING_KEY_UNKNOWN'));
  }
  const late = { ...version.entry, time: '2031-01-01T00:00:00.000Z' };
  const expired = commitVersion(folder, { ...version, entry: late, key: ada });
  await expect(expired).rejects.toEqual(coded('TRUST_EXPIRED'));
});

test('a history may become signed, and takes no unsigned version afterwards', async () => {
  const folder = await scratchRings();
  await stageDevices(folder);
  await commitVersion(folder, await nextVersion(folder));
  const root = testRoot({ cluster: 'default' });
  await beginTrust(folder, author, { root, keys: roots });
  const trust = (await readTrust(folder))?.trust ?? null;
  const first = await readVersion(folder, 'cities', 'head');
  expect(() => requireApproved(first, trust)).toThrow(coded('SIGNATURES_MISSING'));
  await commitVersion(folder, { ...(await nextVersion(folder)), key: ada });
  expect(await codesOf(folder)).toEqual([]);
  const trustFile = join(folder, 'trust.json');
  const whole = await readFile(trustFile);
  await rm(trustFile);
  expect(await codesOf(folder)).toEqual(['VERSION_ROOT_UNKNOWN']);
  const unsigned = commitVersion(folder, await nextVersion(folder));
  await expect(unsigned).rejects.toEqual(coded('TRUST_UNKNOWN'));
  await writeFile(trustFile, whole);
  expect(await codesOf(folder)).toEqual([]);
  // An unsigned version that is nevertheless in the folder is found.
  const log = verifyLog(await readFile(join(folder, 'cities', 'log.jsonl'), 'utf8'));
  const check = signatureChecks(await readTrust(folder), log);
  const second = await readVersion(folder, 'cities', 'head');
  const [one, two] = log.entries.filter(makesVersion);
  const found = [...check(one!, first), ...check(two!, second), ...check(one!, first)];
  expect(found.map(({ code }) => code)).toEqual(['VERSION_UNSIGNED']);
});

test('a large change is refused, or waits for a second signature in a signed folder', async () => {
  const open = await scratchRings();
  await stageDevices(open);
  const pushed = await commitVersion(open, await nextVersion(open));
  await appendPush(place(open), pushed, { ...author, message: '', details: {} });
  const next = await largeVersion(open);
  await expect(commitVersion(open, next)).rejects.toEqual(coded('BRAKE'));
  await commitVersion(open, { ...next, override: 'nothing is on it yet' });
  expect(await codesOf(open)).toEqual([]);

  const folder = await signedFolder();
  const head = await commitVersion(folder, { ...(await nextVersion(folder)), key: ada });
  await appendPush(place(folder), head, { ...author, message: '', details: {} });
  await commitVersion(folder, { ...(await largeVersion(folder)), key: ada });
  const trust = (await readTrust(folder))?.trust ?? null;
  const waiting = await readVersion(folder, 'cities', 'head');
  expect(() => requireApproved(waiting, trust)).toThrow(coded('SIGNATURES_MISSING'));
  expect(await verifyRepository(folder, 'cities', null)).toMatchObject({
    findings: [],
    waiting: 1,
  });
  if (ada === undefined || bob === undefined) throw new Error('no keys');
  const again = await signVersion(place(folder), author, { version: 2, key: ada });
  expect(again).toMatchObject({ changed: false, missing: 1 });
  const done = await signVersion(place(folder), author, { version: 2, key: bob });
  expect(done).toMatchObject({ changed: true, missing: 0, id: waiting.id });
  requireApproved(await readVersion(folder, 'cities', 'head'), trust);
  expect(await verifyRepository(folder, 'cities', null)).toMatchObject({
    findings: [],
    waiting: 0,
  });
});

test('a root waits until enough of the old and the new root keys have signed', async () => {
  const folder = await signedFolder();
  await commitVersion(folder, { ...(await nextVersion(folder)), key: ada });
  const withoutAda = testRoot({ cluster: 'default', ring: people.ring.slice(1) });
  const change = () => withoutAda;
  const one = { change, keys: roots.slice(0, 1), replacesWaiting: false };
  expect(await rotateTrust(folder, author, one)).toMatchObject({ inForce: false });
  await expect(rotateTrust(folder, author, one)).rejects.toEqual(coded('CONFIRMATION_NEEDED'));
  const instead = { ...one, replacesWaiting: true };
  expect(await rotateTrust(folder, author, instead)).toMatchObject({ inForce: false });
  expect(await waitingRoot(folder)).toMatchObject({ byPrevious: [1, 2], byItself: [1, 2] });
  expect(await codesOf(folder)).toEqual([]);
  const signing = { change: null, replacesWaiting: false };
  const mallory = { ...signing, keys: [testKey('mallory').privateKey] };
  await expect(rotateTrust(folder, author, mallory)).rejects.toEqual(coded('SIGNING_KEY_UNKNOWN'));
  const two = { ...signing, keys: roots.slice(1, 2) };
  expect(await rotateTrust(folder, author, two)).toMatchObject({ inForce: true });
  expect(await waitingRoot(folder)).toBe(null);
  expect((await readTrust(folder))?.trust.root.version).toBe(2);
  // The head's key is no longer trusted: no fault of the history, but the head may not be pushed.
  const late = await verifyRepository(folder, 'cities', null);
  expect(late).toMatchObject({ findings: [], waiting: 1 });
  if (bob === undefined) throw new Error('no key');
  await signVersion(place(folder), author, { version: 1, key: bob });
  expect(await verifyRepository(folder, 'cities', null)).toMatchObject({
    findings: [],
    waiting: 0,
  });
});

test('private keys are encrypted, readable by their owner only, never overwritten', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'ringwright-keys-')), 'keys');
  const key = await generateKey(folder, 'ada', 'correct horse');
  expect(await listKeys(folder)).toEqual([key]);
  const path = join(folder, 'ada.key');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(await readFile(path, 'utf8')).toContain('BEGIN ENCRYPTED PRIVATE KEY');
  expect((await loadKey(folder, 'ada', knows('correct horse'))).asymmetricKeyType).toBe('ed25519');
  for (const wrong of [null, 'wrong horse']) {
    await expect(loadKey(folder, 'ada', knows(wrong))).rejects.toEqual(coded('SIGNING_KEY_LOCKED'));
  }
  await expect(loadKey(folder, 'bob', knows('x'))).rejects.toEqual(coded('SIGNING_KEY_UNKNOWN'));
  await expect(generateKey(folder, 'ada', 'correct horse')).rejects.toEqual(
    coded('SIGNING_KEY_EXISTS'),
  );
  await expect(generateKey(folder, 'bob', 'short')).rejects.toEqual(coded('SIGNING_KEY_LOCKED'));
  await expect(generateKey(folder, '../bob', 'correct horse')).rejects.toEqual(
    coded('NAME_INVALID'),
  );
});

test('a key without a passphrase loads without one until it gets one', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'ringwright-keys-')), 'keys');
  const { spki } = await generateKey(folder, 'ada', null);
  const path = join(folder, 'ada.key');
  const asked = knows('correct horse');
  const unasked = () => Promise.reject(new Error('asked for a passphrase that is not needed'));
  expect(spkiOf(await loadKey(folder, 'ada', unasked))).toBe(spki);
  // A crash after the key was added leaves its other name.
  await link(path, join(folder, '.tmp-1-00c0ffee-ada.key'));
  await expect(protectKey(folder, 'ada', knows('short'))).rejects.toEqual(
    coded('SIGNING_KEY_LOCKED'),
  );
  expect(await protectKey(folder, 'ada', asked)).toBe(true);
  expect(await protectKey(folder, 'ada', unasked)).toBe(false);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).sort()).toEqual(['ada.key', 'ada.pub']);
  await expect(loadKey(folder, 'ada', knows(null))).rejects.toEqual(coded('SIGNING_KEY_LOCKED'));
  expect(spkiOf(await loadKey(folder, 'ada', asked))).toBe(spki);
});

function knows(passphrase: string | null) {
  return () => Promise.resolve(passphrase);
}
