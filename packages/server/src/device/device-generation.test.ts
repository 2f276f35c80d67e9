// Tests that a data directory restored from a backup is detected from the ages that its peers
// remember, whenever the backup was made.
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generationLeadMax } from '@ringwright/base/limits-rings';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { DeviceGeneration } from './device-generation.ts';

test('a restored directory is detected if peers saw an age after its backup', async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    await using folder = await scratchFolder();
    const [live, copy] = [join(folder.path, 'live'), join(folder.path, 'copy')];
    await mkdir(live);
    let generation = await DeviceGeneration.begin(live, 'b');
    let remembered = generation.current;
    let copiedAge = generation.current.age;
    await cp(live, copy, { recursive: true });
    for (let step = 0; step < 12; step += 1) {
      const dice = random.below(5);
      if (dice === 0) await generation.advance();
      else if (dice === 1) generation = await DeviceGeneration.begin(live, 'b');
      else if (dice === 2) {
        await rm(copy, { recursive: true });
        await cp(live, copy, { recursive: true });
        copiedAge = generation.current.age;
      } else remembered = generation.current;
      expect(generation.isOlderThan(remembered), `seed ${seed}, step ${step}`).toBe(false);
    }
    await rm(live, { recursive: true });
    await cp(copy, live, { recursive: true });
    const restored = await DeviceGeneration.begin(live, 'b');
    const isYounger = remembered.age > copiedAge;
    expect(restored.isOlderThan(remembered), `seed ${seed}: restored`).toBe(isYounger);
    if (isYounger) await restored.advanceBeyond(remembered);
    expect(restored.isOlderThan(remembered)).toBe(false);
    expect((await DeviceGeneration.begin(live, 'another')).isOlderThan(remembered)).toBe(false);
  }
});

test('a server that cannot write the file reports its previous age again', async () => {
  await using folder = await scratchFolder();
  const before = await DeviceGeneration.begin(folder.path, 'b');
  // A non-empty directory in place of the temporary file makes every write fail.
  await mkdir(join(folder.path, 'life.json.new', 'in the way'), { recursive: true });
  const after = await DeviceGeneration.begin(folder.path, 'b');
  expect(after.current).toEqual(before.current);
  await expect(after.advance()).rejects.toThrow();
  expect(after.current).toEqual(before.current);
});

test('an unreadable file is refused, not taken for a new directory', async () => {
  await using folder = await scratchFolder();
  const generation = await DeviceGeneration.begin(folder.path, 'b');
  expect(generation.current).toMatchObject({ born: 'b', age: 1 });
  await rm(join(folder.path, 'life.json'));
  const refused = expect.objectContaining({ code: 'DISK_FAILED' });
  await cp(import.meta.filename, join(folder.path, 'life.json'));
  await expect(DeviceGeneration.begin(folder.path, 'b')).rejects.toThrow(refused);
});

test('an age that cannot have been counted is not believed and not written', async () => {
  await using folder = await scratchFolder();
  const generation = await DeviceGeneration.begin(folder.path, 'b');
  const claim = (age: number) => ({ born: 'b', age, mark: 'm' });
  expect(generation.isOlderThan(claim(generation.current.age + generationLeadMax))).toBe(true);
  for (const age of [generation.current.age + generationLeadMax + 1, Number.MAX_SAFE_INTEGER]) {
    expect(generation.isOlderThan(claim(age))).toBe(false);
  }
  await expect(generation.advanceBeyond(claim(Number.MAX_SAFE_INTEGER))).rejects.toThrow(
    expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
  );
  const next = await DeviceGeneration.begin(folder.path, 'b');
  expect(next.current.age).toBe(generation.current.age + 1);
});
