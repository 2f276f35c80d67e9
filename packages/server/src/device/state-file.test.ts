// Tests state files: only a state that can be read back is written, and anything else leaves the
// file unchanged.
import fs, { readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { stateFileBytesMax } from '@ringwright/base/limits-store';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { readState, writeState } from './state-file.ts';

const schema = z.strictObject({ age: z.int().min(0), mark: z.string().max(4) });

test('a written state is read back, and a missing one is null', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  expect(await readState(file, schema)).toBeNull();
  await writeState(file, schema, { age: Number.MAX_SAFE_INTEGER, mark: 'm' });
  expect(await readState(file, schema)).toEqual({ age: Number.MAX_SAFE_INTEGER, mark: 'm' });
});

test('a state that does not fit the schema is not written', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  await writeState(file, schema, { age: 1, mark: 'm' });
  const before = await readFile(file, 'utf8');
  const states = [
    { age: 2 ** 53, mark: 'm' },
    { age: Number.NaN, mark: 'm' },
    { age: 2, mark: 'long..' },
  ];
  for (const state of states) {
    await expect(writeState(file, schema, state)).rejects.toThrow(
      expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
    );
    expect(await readFile(file, 'utf8')).toBe(before);
  }
});

test('a state that is too long to be read is not written', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  await expect(writeState(file, z.string(), 'x'.repeat(stateFileBytesMax))).rejects.toThrow(
    expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
  );
  expect(await readState(file, z.string())).toBeNull();
});

test('a file that does not fit the schema is refused with its name', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  await writeFile(file, '{"age":9007199254740992,"mark":"m"}');
  await expect(readState(file, schema)).rejects.toThrow(
    expect.objectContaining({ code: 'DISK_FAILED', details: { file } }),
  );
});

test('a file that the system cannot open is not said to be damaged', async () => {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'file'), '');
  await expect(readState(join(folder.path, 'file', 'state.json'), schema)).rejects.toMatchObject({
    code: 'DISK_FAILED',
    hint: 'a file exists where a directory is needed: check each part of the path',
  });
});

test('a file of a newer release is refused with a hint to start that release', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  await writeFile(file, '{"age":1,"mark":"m","later":1}');
  await expect(readState(file, schema)).rejects.toThrow(
    expect.objectContaining({
      message: `${file} cannot be read: ✖ Unrecognized key: "later"`,
      hint: expect.stringContaining('if a newer release ran here, start that one again'),
    }),
  );
});

test('a full disk gives DISK_FULL, and an unwritable path gives DISK_FAILED', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'state.json');
  const state = { age: 1, mark: 'm' };
  const { open } = fs;
  onTestFinished(() => {
    fs.open = open;
    syncBuiltinESMExports();
  });
  fs.open = () =>
    Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'open' }));
  syncBuiltinESMExports();
  await expect(writeState(file, schema, state)).rejects.toMatchObject({
    code: 'DISK_FULL',
    details: { file },
  });
  fs.open = open;
  syncBuiltinESMExports();
  await expect(writeState(join(file, 'below'), schema, state)).rejects.toMatchObject({
    code: 'DISK_FAILED',
  });
});
