// Lines and files of another history that git or a restore brings into a ring's folder.
import { cpSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, must } from '@ringwright/base/assert';
import { expect, test } from 'vitest';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { noteVersion } from './append-log.ts';
import { commitVersion } from './commit-version.ts';
import { parseBuilderFile, printBuilderFile } from './folder/builder-file.ts';
import { openRing } from './open-ring.ts';
import { copyRing } from './restore-ring.ts';
import { stage } from './stage-changes.ts';

const ring = 'cities';

async function ringsOf(overload: number): Promise<string> {
  const rings = await scratchRings();
  await stageDevices(rings);
  await stage({ rings, ring }, author, {
    command: 'set',
    changesOf: () => [{ kind: 'set', settings: { overload } }],
  });
  await commitVersion(rings, await nextVersion(rings));
  return rings;
}

test('a log entry about a version of another history is refused', async () => {
  const [ours, theirs] = await Promise.all([ringsOf(0.1), ringsOf(0.2)]);
  const { head } = await openRing(theirs, ring);
  const note = { ...author, message: '', details: {}, commands: [] };
  const noted = noteVersion({ rings: ours, ring }, must(head, 'it has a version'), {
    ...note,
    kind: 'push',
  });
  await expect(noted).rejects.toMatchObject({ code: 'HEAD_MOVED' });
  expect((await openRing(ours, ring)).entries).toHaveLength(1);
});

test('an old builder.json is not completed from a version file of another history', async () => {
  const [ours, theirs] = await Promise.all([ringsOf(0.1), ringsOf(0.2)]);
  const builder = join(ours, ring, 'builder.json');
  const before = await readFile(builder);
  await commitVersion(ours, await nextVersion(ours));
  await commitVersion(theirs, await nextVersion(theirs));
  await writeFile(builder, before);
  expect(await openRing(ours, ring)).toMatchObject({ head: { version: 2 } });
  const file = join(ring, 'versions', '0000002.ring');
  await cp(join(theirs, file), join(ours, file));
  await expect(openRing(ours, ring)).rejects.toMatchObject({ code: 'RING_FILE_INVALID' });
});

test('a head with the number of an older version removes no files', async () => {
  const rings = await ringsOf(0.1);
  await commitVersion(rings, await nextVersion(rings));
  const builder = join(rings, ring, 'builder.json');
  const text = await readFile(builder, 'utf8');
  expect(parseBuilderFile(text.replaceAll('\n', '\r\n'))).toMatch(/^has the line ends of Windows/);
  const file = parseBuilderFile(text);
  assert(typeof file !== 'string' && file.head !== null, 'it is valid');
  await writeFile(builder, printBuilderFile({ ...file, head: { ...file.head, version: 1 } }));
  const staged = stage({ rings, ring }, author, { command: 'set', changesOf: () => [] });
  await expect(staged).rejects.toMatchObject({ code: 'RING_LOG_DAMAGED' });
  expect(await readdir(join(rings, ring, 'versions'))).toHaveLength(2);
});

test('a history that goes on while it is copied is copied up to one version', async () => {
  const theirs = await ringsOf(0.1);
  const newer = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
  await cp(theirs, newer, { recursive: true });
  await commitVersion(newer, await nextVersion(newer));
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
  const request = {
    ...{ from: theirs, trust: null, author },
    /** Read once the head to copy is known. */
    get replace() {
      cpSync(newer, theirs, { recursive: true });
      return false;
    },
  };
  await copyRing({ rings, ring }, request);
  expect(await openRing(rings, ring)).toMatchObject({ head: { version: 1 } });
});
