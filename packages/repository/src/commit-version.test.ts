// Commits of versions: concurrent ones, outdated ones, and a process killed after each step.
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import {
  author,
  device,
  filesOf,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion } from './commit-version.ts';
import { readLog } from './folder/read-log.ts';
import { readVersion } from './folder/read-version.ts';
import { openRing } from './open-ring.ts';
import { stage } from './stage-changes.ts';
import { verifyRepository } from './verify/verify-repository.ts';

test('a commit becomes the head, consumes staged changes, and passes verification', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  const head = await commitVersion(rings, await nextVersion(rings));
  expect(head.version).toBe(1);
  const opened = await openRing(rings, 'cities');
  expect(opened.head).toEqual(head);
  expect(opened.staged).toEqual([]);
  const stored = await readVersion(rings, 'cities', 'head');
  expect(stored.id).toBe(head.id);
  expect(stored.state).toEqual(opened.state);
  const [entry] = await readLog(rings, 'cities');
  expect(entry?.commands).toEqual(['ring-builder create cities', 'ring-builder add cities …']);
  expect(entry).toMatchObject({ kind: 'commit', version: 1, parent: null, previous: null });
  expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
});

test('an advance keeps the staged changes', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  await stage({ rings, ring: 'cities' }, author, {
    command: 'ring-builder set-weight',
    changesOf: () => [{ kind: 'set-weight', id: 1, weight: 5 }],
  });
  const next = await nextVersion(rings);
  await commitVersion(rings, { ...next, entry: { ...next.entry, kind: 'advance' } });
  const opened = await openRing(rings, 'cities');
  expect([opened.head?.version, opened.staged.length]).toEqual([2, 1]);
});

test('a version based on another head is refused with both heads; nothing changes', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  const first = await nextVersion(rings);
  const head = await commitVersion(rings, first);
  const before = await filesOf(rings);
  await expect(commitVersion(rings, first)).rejects.toMatchObject({
    code: 'HEAD_MOVED',
    // The hint is not `plan`: a composite ring has no plan, and a cancelled move needs none.
    hint: expect.stringMatching(/^ring-builder status cities /),
    details: { expected: null, found: head },
  });
  expect(await filesOf(rings)).toEqual(before);
});

test('a commit is refused if changes were staged after its plan was made', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  const planned = await nextVersion(rings);
  await stage({ rings, ring: 'cities' }, author, {
    command: 'ring-builder add cities late',
    changesOf: (state) => [{ kind: 'add', device: device(state.devices.length) }],
  });
  await expect(commitVersion(rings, planned)).rejects.toMatchObject({ code: 'STAGED_MOVED' });
  expect((await openRing(rings, 'cities')).head).toBe(null);
});

test('exactly one of many concurrent commits in one process succeeds', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  const version = await nextVersion(rings);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => commitVersion(rings, version)),
  );
  const lost = results.filter((result) => result.status === 'rejected');
  expect(lost.map(({ reason }) => reason.code)).toEqual(Array(7).fill('HEAD_MOVED'));
  expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
});

// A real process kills itself right after the step, so that its lock remains too.
const crashes = [
  { step: 'written', head: 1, staged: 1 },
  { step: 'logged', head: 2, staged: 0 },
  { step: 'recorded', head: 2, staged: 0 },
] as const;

for (const { step, head, staged } of crashes) {
  test(`after a kill at '${step}' the head is ${head}, and the next writer cleans up`, async () => {
    const rings = await scratchRings();
    await stageDevices(rings);
    await commitVersion(rings, await nextVersion(rings));
    await stageDevices(rings, 1);
    const url = (path: string): string => pathToFileURL(join(import.meta.dirname, path)).href;
    const support = url('../../../test/support/small-repository.ts');
    const program = `
      import { commitVersion } from ${JSON.stringify(url('commit-version.ts'))};
      import { nextVersion } from ${JSON.stringify(support)};
      const afterStep = (s) => { if (s === '${step}') process.kill(process.pid, 'SIGKILL'); };
      const version = await nextVersion(${JSON.stringify(rings)});
      await commitVersion(${JSON.stringify(rings)}, { ...version, afterStep });
    `;
    const args = ['--input-type=module', '-e', program];
    const child = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(child.signal, child.stderr).toBe('SIGKILL');

    const left = await filesOf(rings);
    const opened = await openRing(rings, 'cities');
    expect([opened.head?.version, opened.staged.length]).toEqual([head, staged]);
    expect(await filesOf(rings)).toEqual(left);

    await stageDevices(rings, 1);
    expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
    expect(await readdir(join(rings, 'cities', 'versions'))).toHaveLength(head);
    await commitVersion(rings, await nextVersion(rings));
    expect((await readVersion(rings, 'cities', 'head')).ring.version).toBe(head + 1);
    expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
  });
}
