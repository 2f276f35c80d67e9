// verify reads a folder in which another command is working.
import { expect, test } from 'vitest';
import { appendPush } from '../../../test/support/note-push.ts';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion } from './commit-version.ts';
import { verifyRepository } from './verify/verify-repository.ts';

test('a sound folder has no findings while versions and notes are added', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  const note = { ...author, message: '', details: {} };
  const found = new Set<string>();
  for (let version = 1; version <= 15; version += 1) {
    const next = { ...(await nextVersion(rings)), override: 'a test' };
    const verifying = verifyRepository(rings, 'cities', null);
    const head = await commitVersion(rings, next);
    await appendPush({ rings, ring: 'cities' }, head, note);
    for (const { code } of (await verifying).findings) found.add(code);
  }
  expect([...found]).toEqual([]);
});
