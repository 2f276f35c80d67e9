import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFiles } from './remove-files.ts';

function folder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'remove-files-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

test('a file and nested folders are removed, and an absent file is no error', async () => {
  const place = folder();
  const [file, inner] = [path.join(place, 'file'), path.join(place, 'a')];
  fs.mkdirSync(path.join(inner, 'b'), { recursive: true });
  fs.writeFileSync(path.join(inner, 'b', 'long'), '');
  fs.truncateSync(path.join(inner, 'b', 'long'), 100 * 1024 * 1024);
  fs.writeFileSync(file, 'a few bytes');
  fs.symlinkSync(file, path.join(inner, 'link'));
  await removeFiles(inner);
  expect(fs.readdirSync(place), 'the target of a link stays').toEqual(['file']);
  await removeFiles(file);
  await removeFiles(file);
  expect(fs.readdirSync(place)).toEqual([]);
});

test('a file with another name keeps its bytes', async () => {
  const place = folder();
  const [long, other] = [path.join(place, 'long'), path.join(place, 'other')];
  fs.writeFileSync(long, '');
  fs.truncateSync(long, 100 * 1024 * 1024);
  fs.linkSync(long, other);
  await removeFiles(long);
  expect(fs.statSync(other).size).toBe(100 * 1024 * 1024);
});
