// The store of roots and beacons: what it accepts, and what a restart finds.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Beacon, beaconPayload, printBeacon } from '@ringwright/ring/trust/beacon';
import { printTrustFile, rootIdOf } from '@ringwright/ring/trust/trust-chain';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { people, signed, signedRoot, testKey } from '../../../../test/support/signing.ts';
import { freshnessOf } from './freshness.ts';
import { TrustStore } from './trust-store.ts';

const first = signedRoot();
const second = signedRoot({ version: 2, ring: people.ring.slice(1) });
const third = signedRoot({ version: 3, ring: people.ring.slice(1), epoch: 2 });
const bytesOf = (...roots: (typeof first)[]): Buffer => Buffer.from(printTrustFile(roots));
const startMs = Date.parse('2026-11-21T00:00:00Z');

async function load(folder: string, anchors: readonly string[], nowMs = startMs) {
  return TrustStore.load(
    { directory: join(folder, 'trust'), nowMs: () => nowMs, onRoot: () => undefined },
    anchors,
  );
}

const versions = (store: TrustStore): number[] => store.trusts().map(({ root }) => root.version);
const coded = (code: string) => expect.objectContaining({ code });

test('a file is trusted from its first root on, and its newest root counts', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'trust.json');
  await writeFile(file, bytesOf(first, second));
  const store = await load(folder.path, [file]);
  expect([store.demands, versions(store)]).toEqual([true, [2]]);
  await store.offerRoots(bytesOf(first, second, third));
  expect(versions(store)).toEqual([3]);
  // The operator's file is older now, but the restarted server keeps its newer root.
  expect(versions(await load(folder.path, [file]))).toEqual([3]);
});

test('a pin trusts nothing before its document arrives, and accepts no other', async () => {
  await using folder = await scratchFolder();
  const store = await load(folder.path, [rootIdOf(second)]);
  expect([store.demands, versions(store)]).toEqual([true, []]);
  const theirs = signedRoot({ root: ['x', 'y'].map(testKey) }, ['x', 'y'].map(testKey));
  await expect(store.offerRoots(bytesOf(theirs))).rejects.toEqual(coded('TRUST_FORK'));
  await expect(store.offerRoots(bytesOf(first))).rejects.toEqual(coded('TRUST_FORK'));
  await store.offerRoots(bytesOf(first, second));
  expect(versions(store)).toEqual([2]);
  expect(versions(await load(folder.path, [rootIdOf(second)]))).toEqual([2]);
});

test('older chains and forks are refused, and a replay changes nothing', async () => {
  await using folder = await scratchFolder();
  const store = await load(folder.path, [rootIdOf(first)]);
  await store.offerRoots(bytesOf(first, second));
  await store.offerRoots(bytesOf(first, second));
  await expect(store.offerRoots(bytesOf(first))).rejects.toEqual(coded('TRUST_OLDER'));
  const fork = signedRoot({ version: 2, epoch: 9 });
  await expect(store.offerRoots(bytesOf(first, fork))).rejects.toEqual(coded('TRUST_FORK'));
  const forged = signedRoot({ version: 3 }, [testKey('mallory')]);
  await expect(store.offerRoots(bytesOf(first, second, forged))).rejects.toEqual(
    coded('TRUST_INVALID'),
  );
  await expect(store.offerRoots(Buffer.from('{}'))).rejects.toEqual(coded('TRUST_INVALID'));
  expect(versions(store)).toEqual([2]);
});

test('all values of --trust follow the roots that are offered', async () => {
  await using folder = await scratchFolder();
  const words = await Promise.all(
    [[first, second], [second]].map(async (roots, index) => {
      const file = join(folder.path, `trust-${index}.json`);
      await writeFile(file, bytesOf(...roots));
      return file;
    }),
  );
  const store = await load(folder.path, [...words, words[0]!]);
  expect(versions(store)).toEqual([2, 2, 2]);
  await store.offerRoots(bytesOf(first, second, third));
  expect(versions(store)).toEqual([3, 3, 3]);
  expect(versions(await load(folder.path, words))).toEqual([3, 3]);
});

test('a start with a file that contradicts the stored roots is refused', async () => {
  await using folder = await scratchFolder();
  const store = await load(folder.path, [rootIdOf(first)]);
  await store.offerRoots(bytesOf(first, second));
  const file = join(folder.path, 'trust.json');
  await writeFile(file, bytesOf(first, signedRoot({ version: 2, epoch: 9 })));
  await expect(load(folder.path, [file])).rejects.toEqual(coded('TRUST_FORK'));
  await expect(load(folder.path, ['absent.json'])).rejects.toEqual(coded('TRUST_UNKNOWN'));
  await expect(load(folder.path, ['/dev/zero'])).rejects.toEqual(coded('FILE_UNFIT'));
});

const beacon: Beacon = {
  cluster: 'test',
  epoch: 1,
  keyspace: 'cities',
  version: 7,
  id: 'a'.repeat(64),
  issuedMs: startMs,
  expiresMs: startMs + 600_000,
};
const beaconBytes = (change: Partial<Beacon> = {}): Buffer =>
  printBeacon(signed(beaconPayload({ ...beacon, ...change }), people.beacon));

test('freeze: a beacon shows whether a ring is fresh, and an older one is refused', async () => {
  await using folder = await scratchFolder();
  const store = await load(folder.path, [rootIdOf(first)]);
  await store.offerRoots(bytesOf(first));
  const at = (version: number, id: string, nowMs: number): string =>
    freshnessOf(store.beaconOf('cities'), { epoch: 1, version, id }, nowMs).state;
  expect(at(7, beacon.id, startMs)).toBe('none');
  await store.offerBeacon(beaconBytes());
  expect(at(7, beacon.id, startMs + 599_999)).toBe('fresh');
  expect(at(7, beacon.id, startMs + 600_000)).toBe('expired');
  expect(at(6, 'b'.repeat(64), startMs)).toBe('behind');
  expect(at(7, 'b'.repeat(64), startMs)).toBe('behind');
  expect(at(8, 'c'.repeat(64), startMs)).toBe('fresh');
  await store.offerBeacon(beaconBytes());
  const older = beaconBytes({ issuedMs: startMs - 1, version: 6 });
  await expect(store.offerBeacon(older)).rejects.toEqual(coded('BEACON_REFUSED'));
  await expect(store.offerBeacon(Buffer.from('{}'))).rejects.toEqual(coded('BEACON_REFUSED'));
  const again = await load(folder.path, [rootIdOf(first)]);
  expect(again.beaconOf('cities')).toEqual(beacon);
  await expect(again.offerBeacon(older)).rejects.toEqual(coded('BEACON_REFUSED'));
});

test('documents are passed to peers unchanged', async () => {
  await using folder = await scratchFolder();
  const store = await load(folder.path, [rootIdOf(first)]);
  await store.offerRoots(bytesOf(first, second));
  await store.offerBeacon(beaconBytes());
  const { roots, beacons } = store.documents();
  const peer = await load(join(folder.path, 'peer'), [rootIdOf(first)]);
  for (const bytes of roots) await peer.offerRoots(bytes);
  for (const bytes of beacons) await peer.offerBeacon(bytes);
  expect([versions(peer), peer.beaconOf('cities')]).toEqual([[2], beacon]);
  const stored = await readFile(join(folder.path, 'trust', `${rootIdOf(first)}.json`));
  expect(stored.equals(bytesOf(first, second))).toBe(true);
});
