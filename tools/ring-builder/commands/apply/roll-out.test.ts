// Tests that a rollout ends with the head that the folder has then.
import { join } from 'node:path';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringOffer } from '@ringwright/wire/rings';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../../test/support/ring-status.ts';

test('a rollout goes on with a version that is committed while servers drop files', async () => {
  const tool = await ringBuilderHere();
  const head = () => readVersion(join(tool.folder, 'rings'), 'cities', 'head');
  let offered = 0;
  let committing: Promise<void> | null = null;
  let surplus = 1;
  const commit = async (): Promise<void> => {
    await tool.json('set-device cities d0 --meta rack-7');
    await tool.json('commit cities -m second');
    surplus = 0;
  };
  let first: StoredVersion | null = null;
  const handler = {
    request: ringOffer.request,
    answer: (request: unknown) => {
      offered = ringOffer.request.parse(request).version;
      return { wanted: false, active: null };
    },
  };
  const { port } = await fakeServer([[ringOffer.method, handler]], () => {
    if (first === null) return {};
    if (offered === 1) committing ??= commit();
    const draining = surplus === 0 ? [] : [{ partition: 0, reason: 'waits for its turn' }];
    const ring = { ...wellOf(first.ring, 0), version: offered, surplus, draining };
    return { address: 'here', wireVersion, ready: true, rings: [ring], refusals: [] };
  });
  await tool.json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  first = await head();
  expect(await tool.json('rollout cities')).toMatchObject({ version: 2, end: 'done' });
  expect(offered).toBe(2);
});
