// Attack: the threat table on a server with --trust, for an attacker on the wire or with one key.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringVersionJumpMax } from '@ringwright/base/limits';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { printTrustFile, rootIdOf } from '@ringwright/ring/trust/trust-chain';
import { describe, expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { identityOf, servedRing } from '../../../../test/support/served-ring.ts';
import {
  people,
  signAgain,
  signedRing,
  signedRoot,
  testKey,
  testSigning,
} from '../../../../test/support/signing.ts';
import { TrustStore } from '../trust/trust-store.ts';
import { loadRingCache } from './ring-cache.ts';
import { RingForks } from './ring-forks.ts';
import { Rings } from './rings.ts';

const root = signedRoot();
const fileOf = (...roots: (typeof root)[]): Buffer => Buffer.from(printTrustFile(roots));
const [ada, bob] = people.ring as [(typeof people.ring)[0], (typeof people.ring)[0]];
const signing = testSigning(root);
const nowMs = (): number => Date.parse('2026-11-21T00:00:00Z');

/** Versions that follow each other, signed by ada. */
function history(count: number, first: Ring = servedRing({ power: 5, devices: 8 })) {
  const versions = [{ ring: first, ...signedRing(first, signing, [ada]) }];
  while (versions.length < count) {
    const last = versions.at(-1)!;
    const ring = proposeMoves(last.ring, last.id, { moves: [] });
    versions.push({ ring, ...signedRing(ring, signing, [ada]) });
  }
  return versions;
}

const versions = history(4);
const at = (number: number) => versions[number - 1]!;

async function start(folder: string, anchors?: readonly string[]) {
  const ports = { directory: join(folder, 'trust'), nowMs, onRoot: () => undefined };
  const trust = await TrustStore.load(ports, anchors ?? [rootIdOf(root)]);
  if (anchors === undefined && trust.trusts().length === 0) await trust.offerRoots(fileOf(root));
  const cache = { directory: join(folder, 'rings') };
  const cached = await loadRingCache(cache, () => undefined);
  const identity = identityOf(at(1).ring, 0);
  const quiet = { onAlarm: () => undefined, onSettled: () => undefined };
  const forks = await RingForks.load({ ...cache, nowMs, ...quiet });
  const around = { cache, identity, nowMs, trust, forks };
  const callbacks = { onActivate: () => undefined, onRefuse: () => undefined };
  const rings = new Rings({ ...around, ...callbacks }, cached);
  return { rings, trust, forks };
}

const adopted = (rings: Rings, bytes: Uint8Array): Promise<string> =>
  rings.adopt(bytes, 'cities').then(
    ({ ring }) => `version ${ring.version}`,
    (error: unknown) => (error instanceof CodedError ? error.code : `bug: ${String(error)}`),
  );

describe('a refused ring leaves the active ring, and is reported', () => {
  const parent = at(2);
  const twin = { ...at(2).ring, minVersions: at(2).ring.minVersions.map(() => 2) };
  const far = { ...at(3).ring, version: 2 + ringVersionJumpMax + 1 };
  const other = { ...at(3).ring, cluster: 'other' };
  const stir = proposeMoves(parent.ring, parent.id, {
    moves: Array.from({ length: 20 }, (_, partition) => {
      const held = parent.ring.table.map((row) => row[partition]);
      return {
        partition,
        replica: 0,
        from: held[0] ?? 0,
        to: [0, 1, 2, 3, 4, 5, 6, 7].find((id) => !held.includes(id)) ?? 0,
      };
    }),
  });
  const cases: readonly (readonly [string, Uint8Array, string])[] = [
    ['arbitrary: unsigned', encodeRing(at(3).ring).bytes, 'SIGNATURES_MISSING'],
    ['arbitrary: unknown key', signAgain(at(3).bytes, [testKey('mallory')]), 'SIGNATURES_MISSING'],
    ['rollback', at(1).bytes, 'RING_OLDER'],
    ['fork', signedRing(twin, signing, [ada]).bytes, 'RING_FORK'],
    [
      'the child of a fork',
      signedRing({ ...at(3).ring, parent: 'f'.repeat(64) }, signing, [ada]).bytes,
      'RING_FORK',
    ],
    ['fast-forward', signedRing(far, signing, [ada]).bytes, 'RING_VERSION_JUMP'],
    ['wrong cluster', signedRing(other, signing, [ada]).bytes, 'RING_FOREIGN'],
    ['endless data', Buffer.concat([at(3).bytes, Buffer.alloc(99)]), 'RING_FILE_INVALID'],
    [
      'another epoch',
      signedRing(at(3).ring, { ...signing, epoch: 2 }, [ada]).bytes,
      'RING_EPOCH_WRONG',
    ],
    ['large, by one', signedRing(at(3).ring, { ...signing, large: true }, [ada]).bytes, 'BRAKE'],
    ['large, and calls itself small', signedRing(stir, signing, [ada]).bytes, 'BRAKE'],
  ];
  test.for(cases)('attack: %s', async ([, bytes, code]) => {
    await using folder = await scratchFolder();
    const { rings } = await start(folder.path);
    expect(await adopted(rings, at(1).bytes)).toBe('version 1');
    expect(await adopted(rings, at(2).bytes)).toBe('version 2');
    expect(await adopted(rings, bytes)).toBe(code);
    expect(rings.get('cities').id).toBe(at(2).id);
    expect(rings.refusals().some((one) => one.code === code)).toBe(true);
  });

  test('a large change signed by two, or with a reason, is adopted', async () => {
    await using folder = await scratchFolder();
    const { rings } = await start(folder.path);
    await rings.adopt(parent.bytes);
    const large = signedRing(stir, { ...signing, large: true }, [ada, bob]);
    expect(await adopted(rings, large.bytes)).toBe('version 3');
    const reason = { ...signing, large: true, override: 'fire' };
    const next = proposeMoves(stir, large.id, { moves: [] });
    expect(await adopted(rings, signedRing(next, reason, [ada]).bytes)).toBe('version 4');
    expect(rings.get('cities').signing?.override).toBe('fire');
  });
});

test('the highest version survives a restart', async () => {
  await using folder = await scratchFolder();
  const first = await start(folder.path);
  for (const number of [1, 2, 3]) await first.rings.adopt(at(number).bytes);
  const stored = JSON.parse(await readFile(join(folder.path, 'rings/cities/highest.json'), 'utf8'));
  expect(stored).toEqual({ keyspace: 'cities', version: 3, id: at(3).id, epoch: 1 });
  const again = await start(folder.path);
  expect(again.rings.get('cities').id).toBe(at(3).id);
  expect(await adopted(again.rings, at(2).bytes)).toBe('RING_OLDER');
});

test('the epoch of another cluster admits no ring below the highest version', async () => {
  await using folder = await scratchFolder();
  const other = signedRoot({ cluster: 'other', epoch: 2 });
  const given = [rootIdOf(root), rootIdOf(other)];
  const first = await start(folder.path, given);
  for (const one of [root, other]) await first.trust.offerRoots(fileOf(one));
  for (const number of [1, 2, 3]) await first.rings.adopt(at(number).bytes);
  const head = { keyspace: 'cities', version: 2, id: at(2).id };
  expect(() => first.rings.precheck(head)).toThrow('highest version seen');
  for (const number of [1, 2, 3]) await rm(join(folder.path, `rings/cities/000000${number}.ring`));
  const again = await start(folder.path, given);
  expect(again.rings.find('cities')).toBeUndefined();
  expect(await adopted(again.rings, at(2).bytes)).toBe('RING_OLDER');
  expect(await adopted(again.rings, at(3).bytes)).toBe('version 3');
});

test('key compromise: the next root excludes the key, a re-signed ring is adopted', async () => {
  await using folder = await scratchFolder();
  const { rings, trust } = await start(folder.path);
  await rings.adopt(at(1).bytes);
  const without = signedRoot({ version: 2, ring: people.ring.slice(1) });
  await trust.offerRoots(fileOf(root, without));
  expect(await adopted(rings, at(2).bytes)).toBe('SIGNATURES_MISSING');
  expect(await adopted(rings, signAgain(at(2).bytes, [bob]))).toBe('version 2');
  const restarted = await start(folder.path);
  expect(restarted.trust.trusts().map((one) => one.root.version)).toEqual([2]);
  expect(await adopted(restarted.rings, at(3).bytes)).toBe('SIGNATURES_MISSING');
});

test('a later signature is added and kept, and fewer or forged ones change nothing', async () => {
  await using folder = await scratchFolder();
  const { rings, trust } = await start(folder.path);
  await rings.adopt(at(1).bytes);
  const head = { keyspace: 'cities', version: 1, id: at(1).id };
  expect(rings.wantsSignatures({ ...head, signers: 1 })).toBe(false);
  expect(rings.wantsSignatures({ ...head, signers: 2 })).toBe(true);
  await rings.adopt(signAgain(at(1).bytes, [ada, testKey('mallory')]));
  expect(rings.signers(rings.get('cities'))).toBe(1);
  await rings.adopt(signAgain(at(1).bytes, [ada, bob]));
  expect(rings.signers(rings.get('cities'))).toBe(2);
  await rings.adopt(at(1).bytes);
  expect(rings.signers(rings.get('cities')), 'the number never falls').toBe(2);
  await trust.offerRoots(fileOf(root, signedRoot({ version: 2, ring: people.ring.slice(1) })));
  const again = await start(folder.path);
  expect(again.rings.signers(again.rings.get('cities')), "bob's signature is on disk").toBe(1);
});

test('a fork is proved only by its signatures', async () => {
  await using folder = await scratchFolder();
  const { rings, forks } = await start(folder.path);
  await rings.adopt(at(1).bytes);
  await rings.adopt(at(2).bytes);
  const twin = { ...at(2).ring, minVersions: at(2).ring.minVersions.map(() => 2) };
  const forged = signedRing(twin, signing, [testKey('mallory')]).bytes;
  await expect(rings.judgeFirstBytes(forged, 'x')).rejects.toMatchObject({
    code: 'SIGNATURES_MISSING',
  });
  expect(await adopted(rings, forged)).toBe('SIGNATURES_MISSING');
  expect(forks.alarm('cities'), 'a forged signature raises no alarm').toBeNull();
  await rings.judgeFirstBytes(signedRing(twin, signing, [ada]).bytes, 'x');
  expect(forks.alarm('cities')).toMatchObject({ version: 2, id: at(2).id });
});

test('a fast-forward with a stolen key is undone by a new epoch', async () => {
  await using folder = await scratchFolder();
  const { rings, trust } = await start(folder.path);
  await rings.adopt(at(1).bytes);
  const stolen = { ...at(2).ring, version: 900, parent: 'e'.repeat(64) };
  expect(await adopted(rings, signedRing(stolen, signing, [ada]).bytes)).toBe('version 900');
  expect(await adopted(rings, at(2).bytes)).toBe('RING_OLDER');
  const raised = signedRoot({ version: 2, epoch: 2, ring: people.ring.slice(1) });
  await trust.offerRoots(fileOf(root, raised));
  const fresh = testSigning(raised, { epoch: 2 });
  expect(rings.precheck({ keyspace: 'cities', version: 2, id: at(2).id })).toBe('wanted');
  expect(await adopted(rings, signedRing(at(2).ring, fresh, [bob]).bytes)).toBe('version 2');
  const again = await start(folder.path);
  expect(again.rings.get('cities').ring.version).toBe(2);
  expect(await adopted(again.rings, signedRing(stolen, signing, [ada]).bytes)).toBe(
    'SIGNATURES_MISSING',
  );
});

test('once signing is on, an unsigned ring still serves, and the next one is signed', async () => {
  await using folder = await scratchFolder();
  const open = await start(folder.path, []);
  const first = encodeRing(at(1).ring);
  await open.rings.adopt(first.bytes);
  const closed = await start(folder.path);
  expect(closed.rings.get('cities').id).toBe(first.id);
  const next = proposeMoves(at(1).ring, first.id, { moves: [] });
  expect(await adopted(closed.rings, encodeRing(next).bytes)).toBe('SIGNATURES_MISSING');
  expect(await adopted(closed.rings, signedRing(next, signing, [ada]).bytes)).toBe('version 2');
});

test('the last refusals under names that no ring here has are reported', async () => {
  await using folder = await scratchFolder();
  const { rings } = await start(folder.path);
  const { bytes } = encodeRing(at(1).ring);
  const names = Array.from({ length: 40 }, (_, index) => `name-${index}`);
  for (const name of names) await expect(rings.adopt(bytes, name)).rejects.toThrow();
  expect(rings.refusals().map(({ keyspace, code }) => `${keyspace} ${code}`)).toEqual(
    names.slice(-16).map((name) => `${name} SIGNATURES_MISSING`),
  );
});

test('without --trust signed and unsigned rings are adopted', async () => {
  await using folder = await scratchFolder();
  const { rings, trust } = await start(folder.path, []);
  expect(trust.demands).toBe(false);
  expect(await adopted(rings, at(1).bytes)).toBe('version 1');
  const next = proposeMoves(at(1).ring, at(1).id, { moves: [] });
  expect(await adopted(rings, encodeRing(next).bytes)).toBe('version 2');
});
