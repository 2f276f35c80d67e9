// What a command has written survives a power failure: names and contents are synced when it ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { afterEach, expect, test, vi } from 'vitest';
import {
  author,
  emptyState,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { recordSyncs, unsynced } from '../../../test/support/synced-entries.ts';
import { createRing } from './add-ring.ts';
import { commitVersion } from './commit-version.ts';
import { pruneVersions } from './prune-versions.ts';
import { copyRing } from './restore-ring.ts';
import { generateKey } from './signing-key.ts';

afterEach(() => vi.restoreAllMocks());

const scratch = (): Promise<string> => mkdtemp(join(tmpdir(), 'ringwright-power-'));

async function ringOfTwoVersions(): Promise<string> {
  const rings = await scratchRings();
  await stageDevices(rings);
  for (let made = 0; made < 2; made += 1) await commitVersion(rings, await nextVersion(rings));
  return rings;
}

test('a new ring, in a new folder of rings', async () => {
  const folder = await scratch();
  const synced = await recordSyncs();
  await createRing(join(folder, 'a', 'rings'), emptyState, 'ring-builder create cities');
  expect(unsynced(join(folder, 'a'), synced)).toEqual([]);
});

test('a ring that was copied from another folder', async () => {
  const from = await ringOfTwoVersions();
  const rings = join(await scratch(), 'rings');
  const synced = await recordSyncs();
  const history = { from, trust: null, author, replace: false };
  await copyRing({ rings, ring: 'cities' }, history);
  expect(unsynced(rings, synced)).toEqual([]);
});

test('an archive, before the versions are removed', async () => {
  const rings = await ringOfTwoVersions();
  const folder = await scratch();
  const synced = await recordSyncs();
  const archive = join(folder, 'old', 'archive');
  const request = { keep: 1, archive, command: 'ring-builder archive cities …' };
  await pruneVersions({ rings, ring: 'cities' }, author, request);
  expect(unsynced(join(folder, 'old'), synced)).toEqual([]);
});

test('signing keys, in a new folder', async () => {
  const folder = await scratch();
  const synced = await recordSyncs();
  await generateKey(join(folder, 'ringwright', 'keys'), 'ada', null);
  expect(unsynced(join(folder, 'ringwright'), synced)).toEqual([]);
});

test('the first head in a shared folder', async () => {
  const folder = await scratch();
  const synced = await recordSyncs();
  const store = openHeadStore(`dir:${join(folder, 'heads')}`);
  expect(await store.swap('cities', null, '{}')).toBe('won');
  expect(unsynced(join(folder, 'heads'), synced)).toEqual([]);
});

test('a private key whose public half is missing gets it, and stays', async () => {
  const folder = await scratch();
  const key = await generateKey(folder, 'ada', 'correct horse');
  await rm(join(folder, 'ada.pub'));
  await expect(generateKey(folder, 'ada', 'wrong horse')).rejects.toMatchObject({
    code: 'SIGNING_KEY_LOCKED',
  });
  expect(await generateKey(folder, 'ada', 'correct horse')).toEqual(key);
});
