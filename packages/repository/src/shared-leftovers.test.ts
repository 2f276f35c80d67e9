// What an interrupted commit or signature leaves in a working copy, if the head is in a store. And
// a head that moves while its files are fetched.
import { cpSync, rmSync } from 'node:fs';
import { cp, mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finalizeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { advance, beginMoves, receiptsOf } from '../../../test/support/finalized-moves.ts';
import {
  type SharedRepository,
  sharedRepository,
} from '../../../test/support/shared-repository.ts';
import { people, testRoot } from '../../../test/support/signing.ts';
import { author, nextVersion, stageDevices } from '../../../test/support/small-repository.ts';
import { approvalOf } from './approval.ts';
import { commitVersion } from './commit-version.ts';
import { readVersion } from './folder/read-version.ts';
import { readTrust, trustPath } from './folder/trust-file.ts';
import { openRing } from './open-ring.ts';
import { beginTrust } from './rotate-trust.ts';
import { takeStored } from './shared/pull-head.ts';
import { useStore } from './shared/store-file.ts';
import { signVersion } from './sign-version.ts';
import { verifyRepository } from './verify/verify-repository.ts';
import { catchUp } from './write-ring.ts';

const sharedHere = async (): Promise<SharedRepository> =>
  sharedRepository(`dir:${await mkdtemp(join(tmpdir(), 'ringwright-heads-'))}`);

/** Runs `work` while one ring store can be read, and too few can be written. */
async function refusedByStores(shared: SharedRepository, work: () => Promise<unknown>) {
  const stores = shared.stores.slice(1);
  for (const store of stores) await rename(store, `${store}-away`);
  await expect(work()).rejects.toMatchObject({ code: 'RING_STORES_TOO_FEW' });
  for (const store of stores) await rename(`${store}-away`, store);
}

test('receipts of a commit that was refused make way for those of the version', async () => {
  const shared = await sharedHere();
  await stageDevices(shared.rings);
  await commitVersion(shared.rings, await nextVersion(shared.rings));
  await beginMoves(shared.rings);
  const other = await shared.copy();
  const first = ({ moves }: Ring) => new Set(moves.slice(0, 1).map(({ assignment }) => assignment));
  await refusedByStores(shared, () =>
    advance(
      other,
      (ring, id) => finalizeMoves(ring, id, first(ring)),
      (ring, id) => receiptsOf(ring, id).slice(0, 1),
    ),
  );
  await advance(shared.rings, finalizeMoves, receiptsOf);
  await catchUp({ rings: other, ring: 'cities' }, author);
  expect(await verifyRepository(other, 'cities', null)).toMatchObject({
    findings: [],
    receipts: { moves: 2, receipts: 2 },
  });
});

test('a signature that was not published is published by the same command', async () => {
  const [ada, bob] = people.ring.map(({ privateKey }) => privateKey);
  if (ada === undefined || bob === undefined) throw new Error('no keys');
  const shared = await sharedHere();
  const place = { rings: shared.rings, ring: 'cities' };
  const root = testRoot({ cluster: 'default' });
  const keys = people.root.map(({ privateKey }) => privateKey);
  await beginTrust(shared.rings, author, { root, keys });
  await stageDevices(shared.rings);
  await commitVersion(shared.rings, { ...(await nextVersion(shared.rings)), key: ada });
  const sign = () => signVersion(place, author, { version: 1, key: bob });
  await refusedByStores(shared, sign);
  expect(await sign()).toMatchObject({ changed: true, signers: ['ada', 'bob'] });
  const copy = await shared.copy();
  await cp(trustPath(shared.rings), trustPath(copy));
  const trust = (await readTrust(copy))?.trust ?? null;
  const { signers } = approvalOf(await readVersion(copy, 'cities', 1), trust);
  expect(signers).toEqual(['ada', 'bob']);
  expect(await sign()).toMatchObject({ changed: false });
});

test('a history is fetched although another transaction follows meanwhile', async () => {
  const shared = await sharedHere();
  await stageDevices(shared.rings);
  await commitVersion(shared.rings, await nextVersion(shared.rings));
  const folders = [...shared.stores, shared.url.slice('dir:'.length)];
  for (const folder of folders) await cp(folder, `${folder}-before`, { recursive: true });
  await commitVersion(shared.rings, { ...(await nextVersion(shared.rings)), override: 'a test' });
  const exchange = (from: string, to: string): void => {
    for (const folder of folders) {
      rmSync(`${folder}${to}`, { recursive: true, force: true });
      cpSync(`${folder}${from}`, `${folder}${to}`, { recursive: true });
    }
  };
  exchange('', '-after');
  exchange('-before', '');
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
  await useStore(rings, { url: shared.url, stores: [] });
  const place = { rings, ring: 'cities' };
  const placing = {
    author,
    /** Read once the history is known, before its files are read. */
    get replace() {
      exchange('-after', '');
      return false;
    },
  };
  await takeStored(place, placing);
  expect((await openRing(rings, 'cities')).head?.version).toBe(1);
  await catchUp(place, author);
  expect((await openRing(rings, 'cities')).head?.version).toBe(2);
  expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
});
