// Attack: someone without a key, or with one of two required keys, edits access.json.
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessPayload, decodeAccess, parseAccessFile } from '@ringwright/access/access-document';
import { withToken } from '@ringwright/access/change-access';
import { printSigned, signedDocument } from '@ringwright/ring/trust/signed-document';
import { expect, test } from 'vitest';
import { granted } from '../../../test/support/access.ts';
import { people, testRoot } from '../../../test/support/signing.ts';
import { author } from '../../../test/support/small-repository.ts';
import { changeAccess, requireAccess, signAccess } from './change-access.ts';
import { beginTrust, rotateTrust } from './rotate-trust.ts';

const [ada, bob] = people.ring.map(({ privateKey }) => privateKey);
const roots = people.root.map(({ privateKey }) => privateKey);
const read = (keyspace: string) => ({ role: 'read', keyspace, prefix: '' }) as const;
const refused = expect.objectContaining({ code: 'SIGNATURES_MISSING' });

async function folder(threshold: number): Promise<string> {
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-access-'));
  await beginTrust(rings, author, { root: testRoot({ threshold }), keys: roots.slice(0, 2) });
  return rings;
}

function grant(rings: string, id: string, key = ada) {
  return changeAccess(rings, author, {
    key,
    change: `grant ${id}`,
    next: (before, change) => withToken(before, granted(id, [read('notes')]), change),
  });
}

/** Adds a token and keeps the signatures, as anyone who can write the folder may do. */
async function plant(rings: string): Promise<void> {
  const path = join(rings, 'access.json');
  const file = parseAccessFile(await readFile(path));
  const document = decodeAccess(file);
  const tokens = [granted('planted', [{ role: 'operator' }]), ...document.tokens];
  const payload = accessPayload({
    ...document,
    tokens: tokens.sort((a, b) => (a.id < b.id ? -1 : 1)),
  });
  await writeFile(path, printSigned(signedDocument(payload, file.signatures)));
}

async function tokensOf(rings: string): Promise<string[]> {
  return (await requireAccess(rings)).document.tokens.map(({ id }) => id);
}

test('a token that was added without a key is never signed', async () => {
  const rings = await folder(1);
  await grant(rings, 'shop');
  await plant(rings);
  await expect(grant(rings, 'harmless')).rejects.toEqual(refused);
  await expect(signAccess(rings, author, ada)).rejects.toEqual(refused);
  expect(await tokensOf(rings)).toEqual(['planted', 'shop']);
  expect((await requireAccess(rings)).signers).toEqual([]);
});

test('if two must sign, no one extends a document that only the other has signed', async () => {
  const rings = await folder(2);
  await grant(rings, 'shop', ada);
  // Ada may extend the document that she signed. Bob must sign it first.
  await grant(rings, 'stock', ada);
  await expect(grant(rings, 'blog', bob)).rejects.toEqual(refused);
  await signAccess(rings, author, bob);
  await grant(rings, 'blog', bob);
  expect(await tokensOf(rings)).toEqual(['blog', 'shop', 'stock']);
});

test('a document of a revoked key must be signed again before it is extended', async () => {
  const rings = await folder(1);
  await grant(rings, 'shop', ada);
  const change = () => testRoot({ ring: people.ring.slice(1) });
  await rotateTrust(rings, author, { change, keys: roots.slice(0, 2), replacesWaiting: false });
  await expect(grant(rings, 'blog', bob)).rejects.toEqual(refused);
  await signAccess(rings, author, bob);
  await grant(rings, 'blog', bob);
  expect(await tokensOf(rings)).toEqual(['blog', 'shop']);
});

test('in a raised epoch a document is signed again, or extended, in that epoch', async () => {
  for (const extend of [false, true]) {
    const rings = await folder(1);
    await grant(rings, 'shop', ada);
    const change = () => ({ ...testRoot(), epoch: 2 });
    await rotateTrust(rings, author, { change, keys: roots.slice(0, 2), replacesWaiting: false });
    expect(await requireAccess(rings)).toMatchObject({ document: { epoch: 1 }, signers: [] });
    await (extend ? grant(rings, 'blog', ada) : signAccess(rings, author, bob));
    const { document, signers, needed } = await requireAccess(rings);
    expect(document).toMatchObject({ epoch: 2, version: 2 });
    expect(signers).toHaveLength(needed);
    expect(await tokensOf(rings)).toEqual(extend ? ['blog', 'shop'] : ['shop']);
  }
});

test('the next change removes what killed changes of the documents left behind', async () => {
  const rings = await folder(1);
  const temporaries = ['trust.json', 'access.json', 'trust-next.json'].map(
    (name) => `.tmp-1-00c0ffee-${name}`,
  );
  for (const name of [...temporaries, '.tmp-1-00c0ffee-store.json']) {
    await writeFile(join(rings, name), 'half');
  }
  await grant(rings, 'shop');
  expect((await readdir(rings)).filter((name) => name.startsWith('.tmp-'))).toEqual([
    '.tmp-1-00c0ffee-store.json',
  ]);
});
