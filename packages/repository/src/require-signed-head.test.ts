// Attack: someone without a key, or with one of two required keys, edits the rings folder.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serializeState } from '@ringwright/builder/state/state-json';
import { withSignatures } from '@ringwright/ring/file/ring-container';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { beforeEach, expect, test } from 'vitest';
import { people, testKey, testRoot } from '../../../test/support/signing.ts';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion, type VersionToCommit } from './commit-version.ts';
import { parseBuilderFile, printBuilderFile } from './folder/builder-file.ts';
import { lineHash, logLine } from './folder/log-entry.ts';
import { readLog } from './folder/read-log.ts';
import { readVersion } from './folder/read-version.ts';
import { beginTrust, rotateTrust } from './rotate-trust.ts';
import { signVersion } from './sign-version.ts';

const [ada, bob] = people.ring.map(({ privateKey }) => privateKey);
const roots = people.root.map(({ privateKey }) => privateKey);
const coded = (code: string) => expect.objectContaining({ code });

let rings = '';
let place = { rings, ring: 'cities' };
const inRing = (name: string): string => join(rings, 'cities', name);

async function signedFolder(threshold: number): Promise<void> {
  rings = await scratchRings();
  place = { rings, ring: 'cities' };
  const root = testRoot({ cluster: 'default', threshold });
  await beginTrust(rings, author, { root, keys: roots.slice(0, 2) });
  await stageDevices(rings);
  await commitVersion(rings, { ...(await nextVersion(rings)), key: ada });
}

beforeEach(() => signedFolder(1));

/** Changes the address of d1 in builder.json, with a matching digest. */
async function moveDevice(): Promise<void> {
  const file = parseBuilderFile(await readFile(inRing('builder.json'), 'utf8'));
  if (typeof file === 'string') throw new Error(file);
  const devices = file.state.devices.map((one) =>
    one?.id === 1 ? { ...one, ip: '6.6.6.6' } : one,
  );
  await writeFile(
    inRing('builder.json'),
    printBuilderFile({ ...file, state: { ...file.state, devices } }),
  );
}

/** Writes a version without signatures, as the tool would, with or without a signing section. */
async function plantVersion(next: VersionToCommit, signing: boolean): Promise<void> {
  const head = await readVersion(rings, 'cities', 'head');
  const planted = signing && head.signing !== null ? { signing: head.signing } : {};
  const made = encodeRing(next.ring, { builder: serializeState(next.state), ...planted });
  await writeFile(inRing(`versions/000000${next.ring.version}.ring`), made.bytes);
  const entries = await readLog(rings, 'cities');
  const last = entries.at(-1);
  if (last === undefined) throw new Error('no entry');
  const previous = lineHash(logLine(last));
  const { version, parent } = next.ring;
  const line = logLine({ ...last, version, id: made.id, parent, previous });
  await writeFile(inRing('log.jsonl'), `${await readFile(inRing('log.jsonl'), 'utf8')}${line}\n`);
  const file = parseBuilderFile(await readFile(inRing('builder.json'), 'utf8'));
  if (typeof file === 'string') throw new Error(file);
  const following = { ...file, head: { version, id: made.id }, log: lineHash(line) };
  await writeFile(inRing('builder.json'), printBuilderFile(following));
}

test('a device that was changed only in builder.json is not signed', async () => {
  await moveDevice();
  const next = { ...(await nextVersion(rings)), key: ada };
  await expect(commitVersion(rings, next)).rejects.toEqual(coded('BUILDER_FILE_INVALID'));
});

test.for([true, false])('an unsigned head is refused (signing section: %s)', async (signing) => {
  await plantVersion(await nextVersion(rings), signing);
  const next = { ...(await nextVersion(rings)), key: ada };
  await expect(commitVersion(rings, next)).rejects.toEqual(coded('SIGNATURES_MISSING'));
  const signed = signVersion(place, author, { version: 2, key: ada as never });
  await expect(signed).rejects.toEqual(coded('SIGNATURES_MISSING'));
});

test('a version file that differs from the log is not signed', async () => {
  const path = inRing('versions/0000001.ring');
  const { ring, signing, signatures } = await readVersion(rings, 'cities', 1);
  if (signing === null) throw new Error('unsigned');
  const other = { ...ring, table: ring.table.map((row) => row.map((id) => (id + 1) % 4)) };
  const { bytes } = encodeRing(other, { signing });
  await writeFile(path, withSignatures(bytes, signatures));
  const signed = signVersion(place, author, { version: 1, key: bob as never });
  await expect(signed).rejects.toEqual(coded('RING_FILE_INVALID'));
  await rm(path);
});

test('if two must sign, no one extends a head that only the other has signed', async () => {
  await signedFolder(2);
  const next = await nextVersion(rings);
  await expect(commitVersion(rings, { ...next, key: bob })).rejects.toEqual(
    coded('SIGNATURES_MISSING'),
  );
  await commitVersion(rings, { ...next, key: ada });
  await signVersion(place, author, { version: 2, key: bob as never });
  await commitVersion(rings, { ...(await nextVersion(rings)), key: bob });
});

test('after a rotation a head that a revoked key has signed can be extended', async () => {
  const ring = [...people.ring.slice(1), testKey('zoe')];
  const change = () => testRoot({ cluster: 'default', ring });
  await rotateTrust(rings, author, { change, keys: roots.slice(0, 2), replacesWaiting: false });
  await commitVersion(rings, { ...(await nextVersion(rings)), key: bob });
});
