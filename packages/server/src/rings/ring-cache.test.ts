// Rings on disk: what a start finds after crashes, after damage, and with files added by hand.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ringVersionsKept } from '@ringwright/base/limits';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { describe, expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { idOf, servedRing } from '../../../../test/support/served-ring.ts';
import { cacheRing, loadRingCache, type RingCache, ringFileName } from './ring-cache.ts';
import { storeLost } from './store-lost.ts';

const versions: Ring[] = [servedRing()];
while (versions.length < 8) {
  const last = versions.at(-1)!;
  versions.push(proposeMoves(last, idOf(last), { moves: [] }));
}

function keep(cache: RingCache, ring: Ring): Promise<void> {
  const { keyspace, version } = ring;
  return cacheRing(cache, { keyspace, version, id: idOf(ring) }, encodeRing(ring).bytes);
}

/** Caches versions 1 to `count`. Returns what a start finds after `damage`. */
async function afterStart(count: number, damage: (folder: string) => Promise<void>) {
  await using scratch = await scratchFolder();
  const cache = { directory: join(scratch.path, 'rings') };
  await loadRingCache(cache, () => undefined);
  for (const ring of versions.slice(0, count)) await keep(cache, ring);
  const folder = join(cache.directory, 'cities');
  await damage(folder);
  const damaged: string[] = [];
  const found = await loadRingCache(cache, (file) => damaged.push(file.slice(folder.length + 1)));
  expect(found.length).toBeLessThanOrEqual(1);
  const { file, highest } = found[0] ?? {};
  return {
    active: file?.decoded.ring.version ?? null,
    highest: highest?.version ?? null,
    damaged,
    files: await readdir(folder),
  };
}

async function flip(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[bytes.length - 1]! ^= 1;
  await writeFile(file, bytes);
}

test.each(['cities', 'cities/highest.json', `cities/${ringFileName(2)}`, ''])(
  'rings/%s that was removed under a running server is written again, and only once',
  async (name) => {
    await using scratch = await scratchFolder();
    const cache = { directory: join(scratch.path, 'rings') };
    for (const ring of versions.slice(0, 2)) await keep(cache, ring);
    const [id, { bytes }] = [idOf(versions[1]!), encodeRing(versions[1]!)];
    const highest = new Map([['cities', { keyspace: 'cities', version: 2, id }]]);
    const present = new Map([['cities', { id, bytes }]]);
    expect(await storeLost(cache, highest, present)).toEqual([]);
    await rm(join(cache.directory, name), { recursive: true });
    expect(await storeLost(cache, highest, present)).toEqual(['cities']);
    expect(await storeLost(cache, highest, present)).toEqual([]);
    const [found] = await loadRingCache(cache, expect.unreachable);
    expect([found?.file?.decoded.id, found?.highest.version]).toEqual([id, 2]);
    // A ring of which only an older version can be read must not take the place of the highest.
    await rm(cache.directory, { recursive: true });
    expect(await storeLost(cache, highest, new Map([['cities', { id: 'old', bytes }]]))).toEqual(
      [],
    );
  },
);

describe('a start finds', () => {
  test('nothing in an empty cache', async () => {
    await using scratch = await scratchFolder();
    const cache = { directory: join(scratch.path, 'deep', 'rings') };
    expect(await loadRingCache(cache, expect.unreachable)).toEqual([]);
  });

  test('the newest ring, and keeps only the last few', async () => {
    const found = await afterStart(8, async () => undefined);
    expect(found).toMatchObject({ active: 8, highest: 8, damaged: [] });
    expect(found.files.filter((file) => file.endsWith('.ring'))).toHaveLength(ringVersionsKept);
  });

  test('the old ring after a crash between the ring file and highest.json', async () => {
    const found = await afterStart(3, async (folder) => {
      await writeFile(join(folder, ringFileName(4)), encodeRing(versions[3]!).bytes);
    });
    expect(found).toMatchObject({ active: 3, highest: 3, damaged: [] });
  });

  test('the first ring after a crash before the first highest.json', async () => {
    const found = await afterStart(1, (folder) => rm(join(folder, 'highest.json')));
    expect(found).toMatchObject({ active: 1, highest: 1, damaged: ['highest.json'] });
  });

  test('an older ring when the newest is damaged, and still knows the highest', async () => {
    const found = await afterStart(3, (folder) => flip(join(folder, ringFileName(3))));
    expect(found).toMatchObject({ active: 2, highest: 3, damaged: [ringFileName(3)] });
  });

  test('no ring when all files are damaged, and still knows the highest', async () => {
    const found = await afterStart(2, async (folder) => {
      await flip(join(folder, ringFileName(1)));
      await writeFile(join(folder, ringFileName(2)), '');
    });
    expect(found).toMatchObject({
      active: null,
      highest: 2,
      damaged: [ringFileName(2), ringFileName(1)],
    });
  });

  test.each([
    ['damaged', '{"keyspace":"cities"'],
    ['of another ring', JSON.stringify({ keyspace: 'x', version: 9, id: 'a'.repeat(64) })],
  ])('the newest file when highest.json is %s', async (_name, text) => {
    const found = await afterStart(3, (folder) => writeFile(join(folder, 'highest.json'), text));
    expect(found).toMatchObject({ active: 3, highest: 3, damaged: ['highest.json'] });
  });

  test('an older ring when pipes replace the newest and highest.json', async () => {
    const found = await afterStart(3, async (folder) => {
      const paths = [ringFileName(3), 'highest.json'].map((name) => join(folder, name));
      for (const path of paths) await rm(path);
      execFileSync('mkfifo', paths);
    });
    expect(found).toMatchObject({ active: 2, damaged: ['highest.json', ringFileName(3)] });
  });

  test('no ring in a file with the number of another version', async () => {
    const found = await afterStart(3, (folder) =>
      rename(join(folder, ringFileName(1)), join(folder, ringFileName(3))),
    );
    expect(found).toMatchObject({ active: 2, highest: 3, damaged: [ringFileName(3)] });
  });

  test('no other ring of the highest version, even if its file is whole', async () => {
    const twin = { ...versions[2]!, devices: servedRing({ devices: 5 }).devices };
    const found = await afterStart(3, (folder) =>
      writeFile(join(folder, ringFileName(3)), encodeRing(twin).bytes),
    );
    expect(found).toMatchObject({ active: 2, highest: 3, damaged: [ringFileName(3)] });
  });

  test('no ring in the folder of another keyspace', async () => {
    const found = await afterStart(1, (folder) => {
      const other = encodeRing({ ...versions[0]!, keyspace: 'towns' }).bytes;
      return writeFile(join(folder, ringFileName(1)), other);
    });
    expect(found).toMatchObject({ active: null, highest: 1, damaged: [ringFileName(1)] });
  });

  test('the newest ring beside files that a torn write left behind', async () => {
    const found = await afterStart(2, async (folder) => {
      await writeFile(join(folder, `${ringFileName(3)}.new`), 'half');
      await writeFile(join(folder, 'highest.json.new'), '{"ver');
      await writeFile(join(folder, 'notes.txt'), 'by hand');
    });
    expect(found).toMatchObject({ active: 2, highest: 2, damaged: [] });
  });
});
