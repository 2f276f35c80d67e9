// A directory knows from its peers' memory that it was put back, whenever it was copied.
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ageLeadMax } from '@ringwright/base/limits-rings';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { DeviceLife } from './device-life.ts';

test('any history: put back means younger than what was told since the copy', async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    await using folder = await scratchFolder();
    const [live, copy] = [join(folder.path, 'live'), join(folder.path, 'copy')];
    await mkdir(live);
    let life = await DeviceLife.begin(live, 'b');
    let remembered = life.current;
    let copiedAge = life.current.age;
    await cp(live, copy, { recursive: true });
    for (let step = 0; step < 12; step += 1) {
      const dice = random.below(5);
      if (dice === 0) await life.age();
      else if (dice === 1) life = await DeviceLife.begin(live, 'b');
      else if (dice === 2) {
        await rm(copy, { recursive: true });
        await cp(live, copy, { recursive: true });
        copiedAge = life.current.age;
      } else remembered = life.current;
      expect(life.isBefore(remembered), `seed ${seed}, step ${step}`).toBe(false);
    }
    await rm(live, { recursive: true });
    await cp(copy, live, { recursive: true });
    const restored = await DeviceLife.begin(live, 'b');
    const isYounger = remembered.age > copiedAge;
    expect(restored.isBefore(remembered), `seed ${seed}: put back`).toBe(isYounger);
    if (isYounger) await restored.outlive(remembered);
    expect(restored.isBefore(remembered)).toBe(false);
    expect((await DeviceLife.begin(live, 'another')).isBefore(remembered)).toBe(false);
  }
});

test('where nothing can be written, the age of before is told again', async () => {
  await using folder = await scratchFolder();
  const before = await DeviceLife.begin(folder.path, 'b');
  // A directory in the place of the temporary file, with something in it: no write succeeds.
  await mkdir(join(folder.path, 'life.json.new', 'in the way'), { recursive: true });
  const after = await DeviceLife.begin(folder.path, 'b');
  expect(after.current).toEqual(before.current);
  await expect(after.age()).rejects.toThrow();
  expect(after.current).toEqual(before.current);
});

test('a file that cannot be read is no young directory', async () => {
  await using folder = await scratchFolder();
  const life = await DeviceLife.begin(folder.path, 'b');
  expect(life.current).toMatchObject({ born: 'b', age: 1 });
  await rm(join(folder.path, 'life.json'));
  const refused = expect.objectContaining({ code: 'DISK_FAILED' });
  await cp(import.meta.filename, join(folder.path, 'life.json'));
  await expect(DeviceLife.begin(folder.path, 'b')).rejects.toThrow(refused);
});

test('an age that no server can have counted is not believed, and never written', async () => {
  await using folder = await scratchFolder();
  const life = await DeviceLife.begin(folder.path, 'b');
  const told = (age: number) => ({ born: 'b', age, mark: 'm' });
  expect(life.isBefore(told(life.current.age + ageLeadMax))).toBe(true);
  for (const age of [life.current.age + ageLeadMax + 1, Number.MAX_SAFE_INTEGER]) {
    expect(life.isBefore(told(age))).toBe(false);
  }
  await expect(life.outlive(told(Number.MAX_SAFE_INTEGER))).rejects.toThrow(
    expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
  );
  const next = await DeviceLife.begin(folder.path, 'b');
  expect(next.current.age).toBe(life.current.age + 1);
});
