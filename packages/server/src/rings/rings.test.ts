// Adopting rings: a refused ring leaves the active one as it was, in memory and on disk.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { identityOf, idOf, servedRing } from '../../../../test/support/served-ring.ts';
import { loadRingCache } from './ring-cache.ts';
import { RingForks } from './ring-forks.ts';
import { Rings } from './rings.ts';

const versions: Ring[] = [servedRing()];
while (versions.length < 6) {
  const last = versions.at(-1)!;
  versions.push(proposeMoves(last, idOf(last), { moves: [] }));
}
const bytesOf = (ring: Ring): Buffer => encodeRing(ring).bytes;
const version = (number: number): Buffer => bytesOf(versions[number - 1]!);

/** Accepts unsigned rings. */
const quiet = {
  trust: { demands: false, authenticate: () => null, trusts: () => [] },
  onRefuse: () => undefined,
};

function forksIn(folder: string): Promise<RingForks> {
  const deaf = { onAlarm: () => undefined, onSettled: () => undefined };
  return RingForks.load({ directory: join(folder, 'rings'), nowMs: () => 7, ...deaf });
}

async function start(directory: string, isOpen = true) {
  const cache = { directory: join(directory, 'rings') };
  const activated: number[] = [];
  const forks = await forksIn(directory);
  const rings = new Rings(
    {
      ...quiet,
      cache,
      identity: identityOf(versions[0]!, 0),
      nowMs: () => 7,
      forks,
      isOpen: () => isOpen,
      onActivate: ({ ring }) => activated.push(ring.version),
    },
    await loadRingCache(cache, expect.unreachable),
  );
  return { rings, activated, forks };
}

const adopted = (rings: Rings, bytes: Uint8Array): Promise<string> =>
  rings.adopt(bytes).then(
    ({ ring }) => `version ${ring.version}`,
    (error: unknown) => (error instanceof CodedError ? error.code : `bug: ${String(error)}`),
  );

describe('one after the other', () => {
  const broken = { ...versions[2]!, minVersions: Uint32Array.of(1, 1, 1, 9) };
  const twin = { ...versions[1]!, devices: servedRing({ devices: 5 }).devices };
  test.each([
    ['a ring that fails its audit', bytesOf(broken), 'RING_AUDIT_FAILED'],
    ['an older ring', version(1), 'RING_OLDER'],
    ['a fork', bytesOf(twin), 'RING_FORK'],
    ['the child of a fork', bytesOf({ ...versions[2]!, parent: idOf(twin) }), 'RING_FORK'],
    ['a ring of another cluster', bytesOf({ ...versions[2]!, cluster: 'x' }), 'RING_FOREIGN'],
    ['a cut file', version(3).subarray(0, -1), 'RING_FILE_INVALID'],
    ['a file that is not a ring', Buffer.from('hello'), 'RING_FILE_INVALID'],
  ])('%s is refused and changes nothing', async (_name, bytes, code) => {
    await using folder = await scratchFolder();
    const { rings, activated } = await start(folder.path);
    await rings.adopt(version(1));
    const before = await rings.adopt(version(2));
    expect(await adopted(rings, bytes)).toBe(code);
    expect(rings.get('cities')).toBe(before);
    expect(activated).toEqual([1, 2]);
    const seen = rings.refusals().map(({ keyspace, code: what }) => `${keyspace} ${what}`);
    expect(seen).toEqual(code === 'RING_FILE_INVALID' ? [] : [`cities ${code}`]);
    const restarted = await start(folder.path);
    expect(restarted.rings.get('cities').ring).toEqual(versions[1]);
    expect(await adopted(rings, version(3)), 'a good ring is still adopted').toBe('version 3');
    expect(rings.refusals()).toEqual([]);
  });

  test('the same ring again is no change', async () => {
    await using folder = await scratchFolder();
    const { rings, activated } = await start(folder.path);
    const first = await rings.adopt(version(1));
    expect(await rings.adopt(Buffer.from(version(1)))).toBe(first);
    expect(activated).toEqual([1]);
    expect(rings.precheck({ keyspace: 'cities', version: 1, id: first.id })).toBe('same');
  });

  test('an unknown ring is wanted, and a request for it fails with RING_UNKNOWN', async () => {
    await using folder = await scratchFolder();
    const { rings } = await start(folder.path);
    expect(rings.precheck({ keyspace: 'x', version: 9, id: 'a'.repeat(64) })).toBe('wanted');
    expect(() => rings.get('x')).toThrow(expect.objectContaining({ code: 'RING_UNKNOWN' }));
    expect(() => rings.get('x')).toThrow("no ring 'x' is here; known rings: none yet");
    await rings.adopt(version(1));
    expect(() => rings.get('x')).toThrow('known rings: cities');
  });
});

test('of refused rings with new names, the last ones are reported', async () => {
  await using folder = await scratchFolder();
  const { rings } = await start(folder.path);
  const names = Array.from({ length: 40 }, (_, index) => `name-${index}`);
  for (const keyspace of names) {
    const unsound = { ...versions[0]!, keyspace, cluster: '' };
    expect(await adopted(rings, bytesOf(unsound))).toBe('RING_AUDIT_FAILED');
  }
  expect(rings.refusals().map(({ keyspace }) => keyspace)).toEqual(names.slice(-16));
});

test('where access is controlled, a request for an unknown ring learns of no other', async () => {
  await using folder = await scratchFolder();
  const { rings } = await start(folder.path, false);
  await rings.adopt(version(1));
  expect(() => rings.get('x')).toThrow(
    expect.objectContaining({ message: "no ring 'x' is here", details: { keyspace: 'x' } }),
  );
});

describe('after a fork', () => {
  const twin = { ...versions[1]!, devices: servedRing({ devices: 5 }).devices };
  const twinId = idOf(twin);
  const child = { ...proposeMoves(twin, twinId, { moves: [] }) };
  const head = (ring: Ring) => ({ keyspace: 'cities', version: ring.version, id: idOf(ring) });

  async function forked(folder: string) {
    const started = await start(folder);
    for (const number of [1, 2]) await started.rings.adopt(version(number));
    expect(await adopted(started.rings, bytesOf(twin))).toBe('RING_FORK');
    return started;
  }

  test('the alarm is on disk, and only children of the active ring are adopted', async () => {
    await using folder = await scratchFolder();
    const { forks } = await forked(folder.path);
    const alarm = { keyspace: 'cities', version: 2, id: idOf(versions[1]!), other: twinId };
    expect(forks.alarm('cities')).toEqual({ ...alarm, from: '', atMs: 7, settled: null });
    const again = await start(folder.path);
    expect(again.forks.alarm('cities')).toMatchObject(alarm);
    expect(await adopted(again.rings, bytesOf(child))).toBe('RING_FORK');
    const mute = { ...versions[3]!, ancestors: undefined };
    expect(
      await adopted(again.rings, bytesOf(mute)),
      'a jump without ancestors shows no line',
    ).toBe('RING_FORK');
    expect(await adopted(again.rings, version(3))).toBe('version 3');
    expect(again.forks.alarm('cities'), 'only an operator ends the alarm').toMatchObject(alarm);
  });

  test('a fork far above the active ring is detected by the ancestors that it names', async () => {
    await using folder = await scratchFolder();
    const { rings, forks } = await start(folder.path);
    for (const number of [1, 2]) await rings.adopt(version(number));
    let ahead: Ring = child;
    for (let step = 0; step < 3; step += 1) {
      ahead = proposeMoves(ahead, idOf(ahead), { moves: [] });
    }
    expect(rings.precheck(head(ahead)), 'a head shows no line').toBe('wanted');
    const first = bytesOf(ahead).subarray(0, -1);
    await expect(rings.checkFirstBytes(first, 'cities')).rejects.toMatchObject({
      code: 'RING_FORK',
    });
    expect(forks.alarm('cities')).toMatchObject({ version: 2, other: twinId });
    await expect(
      rings.checkFirstBytes(version(3).subarray(0, -1), 'cities'),
    ).resolves.toBeUndefined();
    expect(await adopted(rings, bytesOf(ahead))).toBe('RING_FORK');
    expect(forks.alarm('cities')).toMatchObject({ version: 2, other: twinId });
    expect(await adopted(rings, version(5)), 'a jump on the same line is adopted').toBe(
      'version 5',
    );
    expect(rings.get('cities').id).toBe(idOf(versions[4]!));
  });

  test('the bytes of a fork one version back are wanted, since they prove it', async () => {
    await using folder = await scratchFolder();
    const { rings, forks } = await start(folder.path);
    for (const number of [1, 2, 3]) await rings.adopt(version(number));
    expect(rings.precheck(head(twin))).toBe('wanted');
    expect(() => rings.precheck(head(versions[1]!)), 'a ring of the same line').toThrow(
      'highest version',
    );
    expect(forks.alarm('cities'), 'a claim raises no alarm').toBeNull();
    expect(await adopted(rings, bytesOf(twin))).toBe('RING_FORK');
    expect(forks.alarm('cities')).toMatchObject({ version: 2, other: twinId });
  });

  test('a fork settled for the line here lets it continue and raises no more alarms', async () => {
    await using folder = await scratchFolder();
    const { rings, forks } = await forked(folder.path);
    await rings.settle(head(versions[1]!), 'the other one was a test');
    expect(forks.alarm('cities')).toBeNull();
    expect(await adopted(rings, bytesOf(twin))).toBe('RING_FORK_SETTLED');
    expect(forks.alarm('cities')).toBeNull();
    expect(await adopted(rings, version(4))).toBe('version 4');
    const restarted = await start(folder.path);
    expect(restarted.forks.alarm('cities')).toBeNull();
  });

  test('a fork settled for the other line lets in the named ring and its children', async () => {
    await using folder = await scratchFolder();
    const { rings, forks } = await forked(folder.path);
    await rings.settle(head(child), 'reviewed by two');
    expect(await adopted(rings, bytesOf(twin))).toBe('RING_FORK');
    expect(await adopted(rings, bytesOf(child))).toBe('version 3');
    const next = proposeMoves(child, idOf(child), { moves: [] });
    expect(await adopted(rings, bytesOf(next))).toBe('version 4');
    const restarted = await start(folder.path);
    expect(restarted.rings.get('cities').id).toBe(idOf(next));
    expect(await adopted(restarted.rings, version(5)), 'a new fork is detected').toBe('RING_FORK');
    expect(restarted.forks.alarm('cities')).toMatchObject({ version: 4, id: idOf(next) });
    expect(forks.alarm('cities')).toBeNull();
  });

  test('settling without a fork is refused, and a head alone proves no fork', async () => {
    await using folder = await scratchFolder();
    const { rings, forks } = await start(folder.path);
    for (const number of [1, 2, 3]) await rings.adopt(version(number));
    await expect(rings.settle(head(child), 'why')).rejects.toMatchObject({
      code: 'RING_FORK_UNKNOWN',
    });
    expect([twin, child].map((ring) => rings.isNewFork(head(ring)))).toEqual([true, true]);
    expect(rings.isNewFork(head(versions[1]!))).toBe(false);
    expect(forks.alarm('cities')).toBeNull();
    await rings.judgeFirstBytes(bytesOf(child).subarray(0, 100_000), '10.0.0.9:6200');
    expect(forks.alarm('cities')).toMatchObject({ version: 3, from: '10.0.0.9:6200' });
    expect(rings.isNewFork(head(twin)), 'there is one alarm at a time').toBe(false);
  });
});

describe('the highest version seen', () => {
  test('counts without its file: another ring of that version is a fork', async () => {
    await using folder = await scratchFolder();
    const first = await start(folder.path);
    for (const number of [1, 2, 3]) await first.rings.adopt(version(number));
    await rm(join(folder.path, 'rings/cities/0000003.ring'));
    const { rings, forks } = await start(folder.path);
    expect(rings.get('cities').ring.version).toBe(2);
    const twin = { ...versions[2]!, devices: servedRing({ devices: 5 }).devices };
    const child = proposeMoves(twin, idOf(twin), { moves: [] });
    expect(await adopted(rings, bytesOf(child))).toBe('RING_FORK');
    const alarm = { version: 3, id: idOf(versions[2]!), other: idOf(twin) };
    expect(forks.alarm('cities')).toMatchObject(alarm);
    expect(await adopted(rings, bytesOf(twin))).toBe('RING_FORK');
    expect(await adopted(rings, version(3)), 'the same ring is adopted').toBe('version 3');
  });

  test('holds after a restart, also when its file was lost', async () => {
    await using folder = await scratchFolder();
    const first = await start(folder.path);
    for (const number of [1, 2, 3]) await first.rings.adopt(version(number));
    const cache = { directory: join(folder.path, 'rings') };
    for (const lost of [[3], [3, 2, 1]]) {
      const cached = (await loadRingCache(cache, expect.unreachable)).map(({ file, highest }) => {
        const ring = versions.findLast((one) => !lost.includes(one.version) && one.version <= 3);
        const bytes = ring === undefined ? Buffer.alloc(0) : bytesOf(ring);
        const decoded = file && ring ? { ...file.decoded, ring, id: idOf(ring) } : null;
        return { highest, file: decoded && { decoded, bytes } };
      });
      const forks = await forksIn(folder.path);
      const ports = { cache, forks, identity: identityOf(versions[0]!, 0), nowMs: () => 7 };
      const rings = new Rings({ ...quiet, ...ports, onActivate: () => undefined }, cached);
      expect(rings.find('cities')?.ring.version).toBe(lost.length === 1 ? 2 : undefined);
      expect(rings.unreadable()).toEqual(lost.length === 1 ? [] : ['cities']);
      expect(await adopted(rings, version(2))).toBe(lost.length === 1 ? 'version 2' : 'RING_OLDER');
      expect(await adopted(rings, version(1))).toBe('RING_OLDER');
      expect(await adopted(rings, version(3)), 'the same ring is adopted').toBe('version 3');
      expect(rings.unreadable()).toEqual([]);
    }
  });
});

test('of any rings pushed at once, versions only rise and the highest stays', async () => {
  await using folder = await scratchFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 12 }),
      async (pushed) => {
        const directory = join(folder.path, String((run += 1)));
        const { rings, activated } = await start(directory);
        const answers = await Promise.all(pushed.map((number) => adopted(rings, version(number))));
        let highest = 0;
        for (const [index, number] of pushed.entries()) {
          expect(answers[index]).toBe(number < highest ? 'RING_OLDER' : `version ${number}`);
          highest = Math.max(highest, number);
        }
        expect(activated).toEqual([...new Set(activated)].sort((a, b) => a - b));
        expect(rings.find('cities')?.ring.version ?? 0).toBe(highest);
        const again = await start(directory);
        expect(again.rings.find('cities')?.ring.version ?? 0).toBe(highest);
      },
    ),
    { numRuns: 15 },
  );
});
