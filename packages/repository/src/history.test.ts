// Attack: compares restore, prune, archive and rebase with plain copies of the files before.
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { serializeState } from '@ringwright/builder/state/state-json';
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
import { listRings } from './folder/list-rings.ts';
import { readLog } from './folder/read-log.ts';
import { readLoggedVersion, readVersion } from './folder/read-version.ts';
import { ringFolder } from './folder/ring-folder.ts';
import { openRing } from './open-ring.ts';
import { pruneVersions } from './prune-versions.ts';
import { rebaseRing } from './rebase-ring.ts';
import { copyRing, restoreRing } from './restore-ring.ts';
import { stage } from './stage-changes.ts';
import { verifyRepository } from './verify/verify-repository.ts';

const ring = 'cities';
const command = 'ring-builder restore';

async function ringsWith(versions: number): Promise<string> {
  const rings = await scratchRings();
  await stageDevices(rings);
  for (let made = 0; made < versions; made += 1) {
    await commitVersion(rings, await nextVersion(rings));
  }
  return rings;
}

async function copyOf(rings: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
  await cp(rings, copy, { recursive: true });
  return copy;
}

async function findingsOf(rings: string): Promise<readonly unknown[]> {
  return (await verifyRepository(rings, ring, null)).findings;
}

const given = {
  trust: null,
  name: undefined,
  author,
  replace: false,
  message: 'from 0000003.ring',
  command,
};

test('a restored ring has the same state and version bit for bit, and takes commits', async () => {
  const rings = await ringsWith(3);
  const before = await openRing(rings, ring);
  const { bytes, id } = await readVersion(rings, ring, 'head');
  const anew = await mkdtemp(join(tmpdir(), 'ringwright-restore-'));
  await restoreRing(anew, { ...given, bytes });
  const after = await openRing(anew, ring);
  expect(after.head).toEqual({ version: 3, id });
  expect(Buffer.from(serializeState(after.state))).toEqual(
    Buffer.from(serializeState(before.state)),
  );
  expect(await readFile(join(anew, ring, 'versions', '0000003.ring'))).toEqual(Buffer.from(bytes));
  expect(await findingsOf(anew)).toEqual([]);
  await commitVersion(anew, await nextVersion(anew));
  expect(await findingsOf(anew)).toEqual([]);
  const again = restoreRing(anew, { ...given, bytes });
  await expect(again).rejects.toMatchObject({ code: 'RING_EXISTS' });
  await expect(readVersion(anew, ring, 2)).rejects.toMatchObject({ code: 'RING_VERSION_UNKNOWN' });
});

test('a replaced ring is kept unchanged and readable, and can be copied back', async () => {
  const [rings, other] = [await ringsWith(3), await ringsWith(2)];
  await stageDevices(rings, 1);
  const before = [...(await filesOf(join(rings, ring))).values()];
  const { bytes, id } = await readVersion(other, ring, 'head');
  const { kept } = await restoreRing(rings, { ...given, bytes, replace: true });
  expect((await openRing(rings, ring)).head).toEqual({ version: 2, id });
  expect([...(await filesOf(join(kept ?? '', ring))).values()]).toEqual(before);
  expect(await listRings(rings)).toEqual([ring]);
  expect((await openRing(kept ?? '', ring)).staged).toHaveLength(1);
  expect(await findingsOf(kept ?? '')).toEqual([]);

  // A whole history is copied with its log, but without its staged changes.
  const time = '2026-11-21T03:00:01.000Z';
  const request = { from: kept ?? '', trust: null, author: { ...author, time }, replace: true };
  const place = { rings, ring };
  const refused = copyRing(place, { ...request, replace: false });
  await expect(refused).rejects.toMatchObject({ code: 'RING_EXISTS' });
  const again = await copyRing(place, request);
  expect(again.kept).not.toBe(kept);
  const { head, entries, staged } = await openRing(rings, ring);
  expect([head?.version, entries.length, staged]).toEqual([3, 3, []]);
  expect(await findingsOf(rings)).toEqual([]);
  expect(await readdir(rings)).toEqual(['.replaced', ring]);
});

test('a ring that cannot be read is replaced, but not one that is locked', async () => {
  const rings = await ringsWith(1);
  const { bytes } = await readVersion(rings, ring, 'head');
  await writeFile(join(rings, ring, 'log.jsonl'), 'x');
  const claim = { pid: process.pid, host: hostname(), ...author };
  const lock = join(rings, ring, '.lock-other');
  await writeFile(lock, JSON.stringify(claim));
  const restore = () => restoreRing(rings, { ...given, bytes, replace: true });
  await expect(restore()).rejects.toMatchObject({ code: 'LOCK_HELD' });
  expect(await readdir(rings)).toEqual([ring]);
  await rm(lock);
  await restore();
  expect(await findingsOf(rings)).toEqual([]);
});

test('a restore from a damaged file is refused and creates nothing', async () => {
  const rings = await ringsWith(1);
  const { bytes } = await readVersion(rings, ring, 'head');
  const anew = await mkdtemp(join(tmpdir(), 'ringwright-restore-'));
  const damaged = Buffer.from(bytes);
  damaged[damaged.length - 3]! ^= 1;
  const restored = restoreRing(anew, { ...given, bytes: damaged });
  await expect(restored).rejects.toMatchObject({ code: 'RING_FILE_INVALID' });
  expect(await readdir(anew)).toEqual([]);
});

test('prune archives versions and keeps the log sound; another lost file is found', async () => {
  const rings = await ringsWith(5);
  const archive = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const kept = await copyOf(rings);
  const request = { keep: 2, archive, command: 'ring-builder archive' };
  const { versions } = await pruneVersions({ rings, ring }, author, request);
  expect(versions).toEqual([1, 2, 3]);
  expect(await findingsOf(rings)).toEqual([]);
  for (const version of ['0000001.ring', '0000003.ring']) {
    const archived = await readFile(join(archive, ring, version));
    expect(archived).toEqual(await readFile(join(kept, ring, 'versions', version)));
  }
  expect((await readVersion(rings, ring, 2)).ring.version).toBe(2);
  await rm(join(archive, ring, '0000002.ring'));
  await expect(readVersion(rings, ring, 2)).rejects.toMatchObject({
    code: 'RING_VERSION_PRUNED',
    details: { archive },
  });
  expect((await pruneVersions({ rings, ring }, author, request)).versions).toEqual([]);
  await commitVersion(rings, await nextVersion(rings));
  expect(await findingsOf(rings)).toEqual([]);
  await rm(join(rings, ring, 'versions', '0000005.ring'));
  expect(await findingsOf(rings)).toMatchObject([{ code: 'RING_FILE_INVALID' }]);
});

test('versions of a killed prune are found where a later one has archived them', async () => {
  const rings = await ringsWith(4);
  const kept = await copyOf(rings);
  await pruneVersions({ rings, ring }, author, { keep: 1, archive: null, command });
  // Killed behind its note, so nothing was removed.
  await cp(join(kept, ring, 'versions'), join(rings, ring, 'versions'), { recursive: true });
  const archive = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  await pruneVersions({ rings, ring }, author, { keep: 1, archive, command });
  expect((await readVersion(rings, ring, 2)).ring.version).toBe(2);
  expect(await findingsOf(rings)).toEqual([]);
});

test('a prune is refused if the archive has a different file of the same version', async () => {
  const rings = await ringsWith(3);
  const archive = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const other = await ringsWith(2);
  await cp(join(other, ring, 'versions'), join(archive, ring), { recursive: true });
  await cp(join(rings, ring, 'versions', '0000003.ring'), join(archive, ring, '0000001.ring'));
  const before = await filesOf(rings);
  const pruned = pruneVersions({ rings, ring }, author, { keep: 1, archive, command });
  await expect(pruned).rejects.toMatchObject({ code: 'ARCHIVE_DIFFERS' });
  expect(await filesOf(rings)).toEqual(before);
});

const setWeight = (id: number, weight: number) => ({
  command: `ring-builder set-weight cities d${id} ${weight}`,
  changesOf: () => [{ kind: 'set-weight' as const, id, weight }],
});

test('staged changes with equal commands but other devices do not count as committed', async () => {
  const first = await ringsWith(1);
  const second = await copyOf(first);
  const fromFile = (rings: string, ip: string) =>
    stage({ rings, ring }, author, {
      command: 'ring-builder add cities --from racks.csv',
      changesOf: () => [{ kind: 'add', device: { ...device(4), ip } }],
    });
  await fromFile(first, '10.0.9.1');
  await fromFile(second, '10.0.9.2');
  await commitVersion(first, await nextVersion(first));
  for (const name of ['log.jsonl', 'versions']) {
    await cp(join(first, ring, name), join(second, ring, name), { recursive: true });
  }
  await expect(openRing(second, ring)).rejects.toMatchObject({ code: 'STAGED_ON_OLD_HEAD' });
});

test('changes staged on an old head are refused, and rebase stages them again', async () => {
  const first = await ringsWith(1);
  const second = await copyOf(first);
  await stageDevices(first, 1);
  await commitVersion(first, await nextVersion(first));
  await stage({ rings: second, ring }, author, {
    command: 'ring-builder add cities late',
    changesOf: () => [{ kind: 'add', device: { ...device(4), ip: '10.0.9.9' } }],
  });
  await stage({ rings: second, ring }, author, setWeight(4, 7));
  // The result of a merge in git in which the second operator keeps their own builder.json.
  await cp(join(first, ring, 'log.jsonl'), join(second, ring, 'log.jsonl'));
  await cp(join(first, ring, 'versions'), join(second, ring, 'versions'), { recursive: true });
  await expect(openRing(second, ring)).rejects.toMatchObject({ code: 'STAGED_ON_OLD_HEAD' });
  const rebased = await rebaseRing({ rings: second, ring }, author, {
    upstream: null,
    drop: false,
  });
  expect(rebased).toMatchObject({ from: { version: 1 }, onto: { version: 2 }, refused: [] });
  const { staged, head } = await openRing(second, ring);
  expect(head?.version).toBe(2);
  expect(staged.flatMap(({ changes }) => changes)).toMatchObject([
    { kind: 'add', device: { id: 5, ip: '10.0.9.9' } },
    { kind: 'set-weight', id: 5, weight: 7 },
  ]);
  expect(await findingsOf(second)).toEqual([]);
});

test('a rebase onto the first version leaves out the command that created the ring', async () => {
  const first = await scratchRings();
  const second = await scratchRings();
  await stageDevices(first);
  await commitVersion(first, await nextVersion(first));
  await stage({ rings: second, ring }, author, {
    command: 'ring-builder add cities late',
    changesOf: () => [{ kind: 'add', device: { ...device(0), ip: '10.0.9.9' } }],
  });
  const request = { upstream: first, drop: false };
  expect(await rebaseRing({ rings: second, ring }, author, request)).toMatchObject({
    from: null,
    onto: { version: 1 },
    refused: [{ command: 'ring-builder create cities' }],
  });
  const { staged } = await openRing(second, ring);
  expect(staged).toMatchObject([{ changes: [{ kind: 'add', device: { id: 4 } }] }]);
});

test('a rebase onto another folder names the command that is in conflict', async () => {
  const first = await ringsWith(1);
  const second = await copyOf(first);
  for (const change of [setWeight(1, 50), { ...setWeight(2, 1), command: 'kept' }]) {
    await stage({ rings: second, ring }, author, change);
  }
  await stage({ rings: first, ring }, author, setWeight(1, 80));
  const next = await nextVersion(first);
  const devices = next.state.devices.map((one) => (one?.id === 1 ? { ...one, weight: 80 } : one));
  await commitVersion(first, { ...next, state: { ...next.state, devices } });
  const before = await filesOf(second);
  const place = { rings: second, ring };
  const refused = rebaseRing(place, author, { upstream: first, drop: false });
  await expect(refused).rejects.toMatchObject({
    code: 'REBASE_CONFLICT',
    details: { refused: [{ reason: 'the weight of d1 was 100 and is now 80' }] },
    // No other command works before a rebase.
    hint: `ring-builder rebase ${ring} --drop leaves them out; then stage again what you still want`,
  });
  expect(await filesOf(second)).toEqual(before);
  // As a rebase leaves it that was killed while it fetched a version.
  await writeFile(join(second, ring, 'versions', '.tmp-killed'), 'half');
  const done = await rebaseRing(place, author, { upstream: first, drop: true });
  expect(done).toMatchObject({ fetched: [2], staged: [{ command: 'kept' }] });
  expect(await findingsOf(second)).toEqual([]);
  await commitVersion(second, await nextVersion(second));
  const older = await rebaseRing(place, author, { upstream: first, drop: false });
  expect(older).toMatchObject({ fetched: [], onto: { version: 3 } });
  await commitVersion(first, await nextVersion(first));
  const apart = rebaseRing(place, author, { upstream: first, drop: false });
  await expect(apart).rejects.toMatchObject({
    code: 'LOGS_DIVERGED',
    hint: expect.stringMatching(
      `^both sides committed; ring-builder restore ${ring} --from ${first} --replace`,
    ),
  });
});

test('many versions are read with one reading of the log', async () => {
  const rings = await ringsWith(2);
  const folder = ringFolder(rings, ring);
  const entries = await readLog(rings, ring);
  await rm(folder.log);
  const ids = await Promise.all(
    [1, 2].map(async (version) => (await readLoggedVersion(folder, entries, version)).id),
  );
  expect(ids).toEqual(entries.map(({ id }) => id));
});
