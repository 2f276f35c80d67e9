// How a server handles the heads that a store announces, for each kind of store.
import { rename } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { openAccess } from '@ringwright/head-store/store-access';
import { waitFor } from '@ringwright/node/wait-for';
import { commitVersion } from '@ringwright/repository/commit-version';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { followHeads } from '@ringwright/server/rings/ring-heads';
import { describe, expect, test } from 'vitest';
import { etcdForFile, etcdHere } from '../support/etcd-cluster.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { sharedRepository } from '../support/shared-repository.ts';
import { nextVersion, stageDevices } from '../support/small-repository.ts';

const etcd = etcdForFile();

const kinds: readonly [string, boolean, (folder: string) => string][] = [
  ['dir', true, (folder) => `dir:${join(folder, 'heads')}`],
  ['etcd', etcdHere, () => `${etcd()?.url}/followed`],
];

for (const [kind, here, urlOf] of kinds) {
  describe.skipIf(!here)(`heads published in ${kind}`, () => {
    test('are adopted as published, even after no ring store could be read', async () => {
      await using folder = await scratchFolder();
      const shared = await sharedRepository(urlOf(folder.path));
      const publish = async (): Promise<unknown> =>
        commitVersion(shared.rings, { ...(await nextVersion(shared.rings)), override: 'a test' });
      await stageDevices(shared.rings);
      await publish();
      const versions: number[] = [];
      const refused: unknown[] = [];
      const follow = (): (() => void) =>
        followHeads(
          {
            adopt: async (bytes) => versions.push(decodeRing(bytes).ring.version),
            onRefusal: (_, error) => refused.push(error),
            onTrouble: () => undefined,
          },
          { url: shared.url, access: openAccess },
        );
      const last = (version: number): Promise<unknown> =>
        waitFor(`version ${version}`, {
          ask: () => versions.at(-1),
          until: (seen) => seen === version,
        });
      const first = follow();
      await last(1);
      await publish();
      await last(2);
      first();
      expect(versions).toEqual([1, 2]);

      for (const store of shared.stores) await rename(store, `${store}-away`);
      const second = follow();
      await waitFor('a refusal', { ask: () => refused.length, until: (count) => count > 0 });
      expect(refused).toMatchObject([{ code: 'RING_STORES_TOO_FEW' }]);
      for (const store of shared.stores) await rename(`${store}-away`, store);
      await publish();
      await last(3);
      second();
    });

    test('are adopted once the disk is no longer full', async () => {
      await using folder = await scratchFolder();
      const shared = await sharedRepository(urlOf(folder.path));
      await stageDevices(shared.rings);
      const first = { ...(await nextVersion(shared.rings)), override: 'a test' };
      await commitVersion(shared.rings, first);
      const failures = [1, 2].map(() => new CodedError('DISK_FULL', 'no space is left'));
      const versions: number[] = [];
      const refused: unknown[] = [];
      const stop = followHeads(
        {
          adopt: async (bytes) => {
            const failure = failures.shift();
            if (failure !== undefined) throw failure;
            versions.push(decodeRing(bytes).ring.version);
          },
          onRefusal: (_, error) => refused.push(error),
          onTrouble: () => undefined,
        },
        { url: shared.url, access: openAccess },
      );
      await waitFor('a version', { ask: () => versions.length, until: (count) => count === 1 });
      stop();
      expect(refused, 'reported once').toMatchObject([{ code: 'DISK_FULL' }]);
    });
  });
}

test('a store that breaks off every request is reported once', async () => {
  let requests = 0;
  const store = createServer((socket) => {
    requests += 1;
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>((resolve) => void store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  const troubles: unknown[] = [];
  const stop = followHeads(
    {
      adopt: () => Promise.reject(new Error('nothing to adopt')),
      onRefusal: () => undefined,
      onTrouble: (error) => troubles.push(error),
    },
    { url: `etcd://127.0.0.1:${port}`, access: openAccess },
  );
  await waitFor('four tries', { ask: () => requests, until: (count) => count >= 4 });
  stop();
  store.close();
  expect(troubles).toMatchObject([{ code: 'HEAD_STORE_UNREACHABLE' }]);
});
