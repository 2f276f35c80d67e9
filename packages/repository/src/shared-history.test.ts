// Working copies that share one history: races, kills, and ring stores that are missing or behind.
// Runs on both kinds of head store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { parseRecord } from '@ringwright/head-store/head-record';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { finalizeMoves } from '@ringwright/ring/advance-ring';
import { describe, expect, test } from 'vitest';
import { etcdForFile, etcdHere } from '../../../test/support/etcd-cluster.ts';
import { advance, beginMoves, receiptsOf } from '../../../test/support/finalized-moves.ts';
import { appendPush } from '../../../test/support/note-push.ts';
import {
  type SharedRepository,
  sharedRepository,
  storeAgainstHead,
} from '../../../test/support/shared-repository.ts';
import {
  author,
  filesOf,
  nextVersion,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion, type VersionToCommit } from './commit-version.ts';
import { readLog } from './folder/read-log.ts';
import { openRing } from './open-ring.ts';
import { changeRingStores, ringStoreStates } from './ring-stores.ts';
import { useStore } from './shared/store-file.ts';
import { verifyRepository } from './verify/verify-repository.ts';
import { catchUp } from './write-ring.ts';

const etcd = etcdForFile();

let made = 0;
const kinds: readonly [string, boolean, () => Promise<string>][] = [
  ['dir', true, async () => `dir:${await mkdtemp(join(tmpdir(), 'ringwright-heads-'))}`],
  ['etcd', etcdHere, async () => `${etcd()?.url}/shared-${(made += 1)}`],
];
const none = { beside: [], lacking: [] };

async function withFirst(url: string): Promise<SharedRepository> {
  const shared = await sharedRepository(url);
  await stageDevices(shared.rings);
  await commitVersion(shared.rings, await next(shared.rings));
  return shared;
}

/** Returns the next version with an override: its slots move at once, and servers may follow it. */
async function next(rings: string): Promise<VersionToCommit> {
  return { ...(await nextVersion(rings)), override: 'a test' };
}

async function requireSound({ url, stores }: SharedRepository, copies: readonly string[]) {
  const logs = await Promise.all(
    copies.map(async (rings) => {
      await catchUp({ rings, ring: 'cities' }, author);
      expect((await verifyRepository(rings, 'cities', null)).findings).toEqual([]);
      return JSON.stringify(await readLog(rings, 'cities'));
    }),
  );
  expect(new Set(logs).size).toBe(1);
  for (const store of stores) expect(await storeAgainstHead(url, store)).toEqual(none);
}

for (const [kind, here, urlOf] of kinds) {
  describe.skipIf(!here)(`a history whose head is in ${kind}`, () => {
    test('receipts of moves reach every working copy, also a new one', async () => {
      const shared = await withFirst(await urlOf());
      const other = await shared.copy();
      await beginMoves(shared.rings);
      await advance(shared.rings, finalizeMoves, receiptsOf);
      const place = { rings: other, ring: 'cities' };
      await catchUp(place, author);
      // The copy that got the receipts from the store makes the next transaction.
      const { head } = await openRing(other, 'cities');
      await appendPush(place, head!, { ...author, message: '', details: {} });
      const copies = [shared.rings, other, await shared.copy()];
      await requireSound(shared, copies);
      for (const rings of copies) {
        const { receipts } = await verifyRepository(rings, 'cities', null);
        expect(receipts).toMatchObject({ moves: 2, receipts: 2, absent: 0 });
      }
    });

    test('a second copy has the same head and commits, and the first catches up', async () => {
      const shared = await withFirst(await urlOf());
      const other = await shared.copy();
      expect((await openRing(other, 'cities')).head).toEqual(
        (await openRing(shared.rings, 'cities')).head,
      );
      await stageDevices(other, 1);
      const head = await commitVersion(other, await next(other));
      expect(head.version).toBe(2);
      await appendPush({ rings: other, ring: 'cities' }, head, {
        ...author,
        message: '',
        details: {},
      });
      await requireSound(shared, [shared.rings, other, await shared.copy()]);
      const entries = await readLog(shared.rings, 'cities');
      expect(new Set(entries.map(({ details }) => details['transaction'])).size).toBe(3);
    });

    test('exactly one of twenty concurrent committers wins each version', async () => {
      const shared = await withFirst(await urlOf());
      const copies = await Promise.all(Array.from({ length: 20 }, () => shared.copy()));
      for (let version = 2; version <= 4; version += 1) {
        for (const rings of copies) await catchUp({ rings, ring: 'cities' }, author);
        const planned = await Promise.all(
          copies.map(async (rings, at) => {
            const planned = await next(rings);
            return {
              rings,
              given: { ...planned, entry: { ...planned.entry, user: `racer-${at}` } },
            };
          }),
        );
        const outcomes = await Promise.allSettled(
          planned.map(({ rings, given }) => commitVersion(rings, given)),
        );
        const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
        const lost = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
        expect(lost.map(({ code }) => code)).toEqual(Array(19).fill('HEAD_MOVED'));
        for (const { details, hint } of lost) {
          expect(hint).toMatch(/^ring-builder status cities /);
          expect(details).toMatchObject({ expected: { version: version - 1 }, found: { version } });
        }
        await catchUp({ rings: shared.rings, ring: 'cities' }, author);
        const last = (await readLog(shared.rings, 'cities')).at(-1);
        expect(last).toMatchObject({ version, user: `racer-${winner}` });
      }
      await requireSound(shared, [shared.rings, ...copies.slice(0, 3)]);
    }, 30_000);

    test('a missing ring store is skipped, and one that is behind serves no copy', async () => {
      const shared = await withFirst(await urlOf());
      const [a = '', b = '', c = ''] = shared.stores;
      const away = async (store: string): Promise<void> => rename(store, `${store}-away`);
      const back = async (store: string): Promise<void> => rename(`${store}-away`, store);
      await away(a);
      await commitVersion(shared.rings, await next(shared.rings));
      await away(b);
      const before = await filesOf(c);
      await expect(commitVersion(shared.rings, await next(shared.rings))).rejects.toMatchObject({
        code: 'RING_STORES_TOO_FEW',
        message: `1 of 3 ring stores stored it: ${a} does not exist; ${b} does not exist`,
        // Creating the folders would hide that the disks are not mounted.
        hint: expect.stringMatching(
          /: check that the disks of .* and .* are mounted; nothing has changed$/,
        ),
      });
      expect(await filesOf(c)).toEqual(before);
      await back(a);
      await away(c);
      // Only the store that missed version 2 is there. No answer is better than an old one.
      await expect(shared.copy()).rejects.toMatchObject({ code: 'RING_STORES_TOO_FEW' });
      await back(b);
      await commitVersion(shared.rings, await next(shared.rings));
      expect(await storeAgainstHead(shared.url, a)).toEqual(none);
      await back(c);
      const head = await commitVersion(shared.rings, await next(shared.rings));
      expect(head.version).toBe(4);
      await requireSound(shared, [shared.rings, await shared.copy()]);
    });

    test('ring stores change by compare-and-swap, and a new one gets all files', async () => {
      const shared = await withFirst(await urlOf());
      const other = await shared.copy();
      const place = { rings: other, ring: 'cities' };
      const joining = await mkdtemp(join(tmpdir(), 'ringwright-stores-'));
      const stores = [...shared.stores.slice(1), joining];
      const missing = [...stores.slice(0, 2), `${joining}/not-there`];
      await expect(changeRingStores(place, author, missing)).rejects.toMatchObject({
        code: 'RING_STORES_TOO_FEW',
        hint: expect.stringContaining(`create them with mkdir -p ${joining}/not-there`),
      });
      await changeRingStores(place, author, stores);
      expect(await storeAgainstHead(shared.url, joining)).toEqual(none);
      const record = parseRecord((await openHeadStore(shared.url).read('cities'))?.value ?? '');
      expect(record).toMatchObject({ sequence: 2, version: 1, stores });
      await commitVersion(shared.rings, await next(shared.rings));
      await requireSound({ ...shared, stores }, [shared.rings, other]);
    });

    test('a copy that is behind does not replace a head that the store lost', async () => {
      const shared = await withFirst(await urlOf());
      const behind = await shared.copy();
      const first = await openHeadStore(shared.url).read('cities');
      await commitVersion(shared.rings, await next(shared.rings));
      const place = { rings: behind, ring: 'cities' };
      // The store loses its data, or goes back to a backup.
      let { url } = shared;
      for (const restored of [null, first]) {
        url = await urlOf();
        if (restored !== null) await openHeadStore(url).swap('cities', null, restored.value);
        for (const rings of [shared.rings, behind]) {
          await rm(join(rings, 'store.json'));
          await useStore(rings, { url, stores: shared.stores });
        }
        await expect(catchUp(place, author)).rejects.toMatchObject({
          code: 'HEAD_LOST',
          hint: expect.stringContaining('in the folder of rings that has version 2'),
        });
        expect((await openHeadStore(url).read('cities'))?.value).toBe(restored?.value);
        await catchUp({ rings: shared.rings, ring: 'cities' }, author);
        const { value = '' } = (await openHeadStore(url).read('cities')) ?? {};
        expect(parseRecord(value).version).toBe(2);
      }
      await catchUp(place, author);
      await requireSound({ ...shared, url }, [shared.rings, behind]);
    });

    test('a working copy replaces what all ring stores lost', async () => {
      const shared = await withFirst(await urlOf());
      const other = await shared.copy();
      for (const store of shared.stores) await rm(join(store, 'cities'), { recursive: true });
      await expect(shared.copy()).rejects.toMatchObject({ code: 'RING_STORES_TOO_FEW' });
      await catchUp({ rings: other, ring: 'cities' }, author);
      await requireSound(shared, [other, shared.rings, await shared.copy()]);
    });

    test('damaged files of ring stores are named, and stored again', async () => {
      const shared = await withFirst(await urlOf());
      const place = { rings: shared.rings, ring: 'cities' };
      for (const store of shared.stores) {
        const names = await readdir(join(store, 'cities'));
        const name = names.find((one) => one.endsWith('.ring')) ?? '';
        await truncate(join(store, 'cities', name), 100);
      }
      const states = async () =>
        (await ringStoreStates(shared.rings, 'cities'))?.stores.map(({ state }) => state);
      expect(await states()).toEqual(['damaged', 'damaged', 'damaged']);
      await expect(shared.copy()).rejects.toMatchObject({
        code: 'RING_STORES_TOO_FEW',
        message: expect.stringMatching(/^version 1 of cities is damaged in /),
        hint: expect.stringContaining(`ring-builder stores cities ${shared.stores.join(' ')}`),
      });
      await changeRingStores(place, author, shared.stores);
      expect(await states()).toEqual(['current', 'current', 'current']);
      await requireSound(shared, [shared.rings, await shared.copy()]);
    });

    const crashes = [
      { step: 'written', head: 1, staged: 1 },
      { step: 'stored', head: 1, staged: 1 },
      { step: 'swapped', head: 2, staged: 0 },
      { step: 'logged', head: 2, staged: 0 },
      { step: 'recorded', head: 2, staged: 0 },
    ] as const;
    test.each(crashes)(
      'after a kill at $step the head is $head in every copy',
      async ({ step, head, staged }) => {
        const shared = await withFirst(await urlOf());
        const other = await shared.copy();
        await stageDevices(shared.rings, 1);
        await killAfter(shared.rings, step);
        await catchUp({ rings: other, ring: 'cities' }, author);
        expect((await openRing(other, 'cities')).head?.version).toBe(head);
        await catchUp({ rings: shared.rings, ring: 'cities' }, author);
        const opened = await openRing(shared.rings, 'cities');
        expect([opened.head?.version, opened.staged.length]).toEqual([head, staged]);
        expect(await readdir(join(shared.rings, 'cities', 'versions'))).toHaveLength(head);
        const after = await commitVersion(shared.rings, await next(shared.rings));
        expect(after.version).toBe(head + 1);
        await requireSound(shared, [shared.rings, other]);
      },
    );
  });
}

/** Commits in a process that kills itself right after the step. */
async function killAfter(rings: string, step: string): Promise<void> {
  const url = (path: string): string => pathToFileURL(join(import.meta.dirname, path)).href;
  const program = `
    import { commitVersion } from ${JSON.stringify(url('commit-version.ts'))};
    import { nextVersion } from ${JSON.stringify(url('../../../test/support/small-repository.ts'))};
    const afterStep = (s) => { if (s === '${step}') process.kill(process.pid, 'SIGKILL'); };
    const version = await nextVersion(${JSON.stringify(rings)});
    await commitVersion(${JSON.stringify(rings)}, { ...version, override: 'a test', afterStep });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  const [stderr, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(signal, stderr).toBe('SIGKILL');
}
