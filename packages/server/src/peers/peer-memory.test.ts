// The memory of peers, also on disk, and when another data directory replaces a known one.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generationLeadMax } from '@ringwright/base/limits-rings';
import { formatAddress } from '@ringwright/base/server-address';
import type { Generation } from '@ringwright/wire/hello';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { PeerMemory } from './peer-memory.ts';

const generation = (born: string, age = 0): Generation => ({
  born,
  age,
  mark: age ? `mark ${age}` : '',
});

test('the highest age of a directory is kept, and a file without ages is read', async () => {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'peers.json'), '{"a:1":"first"}');
  const memory = await PeerMemory.load(folder.path);
  expect(memory.recall('a:1')).toEqual(generation('first'));
  for (const age of [7, 3]) memory.learn('a:1', generation('first', age), true);
  expect(memory.recall('a:1')).toEqual(generation('first', 7));
  memory.learn('a:1', { ...generation('first', 7), mark: 'of a copy' }, true);
  expect(memory.recall('a:1')).toEqual(generation('first', 7));
  await memory.close();
  expect((await PeerMemory.load(folder.path)).recall('a:1')).toEqual(generation('first', 7));
});

test('a new peer is stored at once, another directory only once it is settled', async () => {
  await using folder = await scratchFolder();
  const memory = await PeerMemory.load(folder.path);
  expect(memory.recall('a:1')).toBeNull();
  memory.learn('a:1', generation('first'), false);
  expect(memory.recall('a:1')).toEqual(generation('first'));
  memory.learn('a:1', generation('wiped'), false);
  expect(memory.recall('a:1'), 'it must still be told that it was wiped').toEqual(
    generation('first'),
  );
  memory.learn('a:1', generation('wiped'), true);
  expect(memory.recall('a:1')).toEqual(generation('wiped'));
  await memory.close();
});

test('a device that gets another address is remembered there', async () => {
  await using folder = await scratchFolder();
  const memory = await PeerMemory.load(folder.path);
  const at = (...ports: readonly number[]) =>
    ports.map((port, id) => ({ ...servedRing({ devices: 9 }).devices[id]!, port }));
  const addressOf = (port: number): string => formatAddress(at(port)[0]!);
  for (const port of [1, 2, 3]) memory.learn(addressOf(port), generation(`of ${port}`), true);
  // Device 1 moves, device 2 takes the address at which device 0 was met, and device 3 is new.
  memory.follow(at(8, 9, 1, 4), at(8, 2, 3));
  expect(memory.recall(addressOf(9))).toEqual(generation('of 2'));
  expect(memory.recall(addressOf(1))).toEqual(generation('of 1'));
  expect(memory.recall(addressOf(4))).toBeNull();
  memory.learn(addressOf(9), generation('wiped'), false);
  expect(memory.recall(addressOf(9)), 'it must hear that it was wiped').toEqual(generation('of 2'));
  await memory.close();
  const reloaded = await PeerMemory.load(folder.path);
  expect(reloaded.recall(addressOf(9))).toEqual(generation('of 2'));
});

test('after any history a restart finds what was known before', async () => {
  await using folder = await scratchFolder();
  const lesson = fc.tuple(
    fc.constantFrom('a:1', 'b:2', '[::1]:3'),
    fc.constantFrom('x', 'y', 'z'),
    fc.boolean(),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(lesson, { maxLength: 8 }), { maxLength: 4 }),
      async (generations) => {
        const directory = join(folder.path, String((run += 1)));
        await mkdir(directory);
        const known = new Map<string, string>();
        for (const lessons of generations) {
          const memory = await PeerMemory.load(directory);
          for (const [address, born] of known)
            expect(memory.recall(address)).toEqual(generation(born));
          for (const [address, born, settled] of lessons) {
            memory.learn(address, generation(born), settled);
            if (settled || !known.has(address)) known.set(address, born);
          }
          await memory.close();
        }
        const memory = await PeerMemory.load(directory);
        for (const [address, born] of known)
          expect(memory.recall(address)).toEqual(generation(born));
      },
    ),
    { numRuns: 30 },
  );
});

test('an age that no server can have reached is not stored', async () => {
  await using folder = await scratchFolder();
  const memory = await PeerMemory.load(folder.path);
  memory.learn('a:1', generation('first', 7), true);
  memory.learn('a:1', generation('first', Number.MAX_SAFE_INTEGER), true);
  expect(memory.recall('a:1')).toEqual(generation('first', 7));
  memory.learn('a:1', generation('first', 7 + generationLeadMax), true);
  expect(memory.recall('a:1')).toEqual(generation('first', 7 + generationLeadMax));
  await memory.close();
});

test('a damaged file is refused and stays as it is', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'peers.json');
  for (const text of ['', '[1]', '{"a:1":7}']) {
    await writeFile(file, text);
    await expect(PeerMemory.load(folder.path)).rejects.toThrow(
      expect.objectContaining({ code: 'DISK_FAILED' }),
    );
    expect(await readFile(file, 'utf8')).toBe(text);
  }
});
