// The memory of peers, also on disk, and when another data directory replaces a known one.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generationLeadMax } from '@ringwright/base/limits-rings';
import type { Generation } from '@ringwright/wire/hello';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
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
