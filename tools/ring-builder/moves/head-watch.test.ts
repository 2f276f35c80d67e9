// Tests that a head moved by somebody else is noticed, and that notes about the same head are not.
import { commitVersion } from '@ringwright/repository/commit-version';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { appendPush } from '../../../test/support/note-push.ts';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { headWatch } from './head-watch.ts';

test('another head is noticed, but not a note about the current head', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  const head = await readVersion(rings, 'cities', 'head');
  const hasMoved = headWatch(rings, head);
  expect([await hasMoved(), await hasMoved()]).toEqual([false, false]);
  const noted = { version: head.ring.version, id: head.id };
  await appendPush({ rings, ring: 'cities' }, noted, { ...author, message: '', details: {} });
  expect(await hasMoved()).toBe(false);
  await commitVersion(rings, await nextVersion(rings));
  expect(await hasMoved()).toBe(true);
});
