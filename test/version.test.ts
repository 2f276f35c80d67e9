// All that is released together has one version, and both programs print it.
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const run = promisify(execFile);

test('every package.json has the version of the program', () => {
  const files = ['package.json', ...globSync('{packages,tools}/*/package.json', { cwd: root })];
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) {
    const { version } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
    expect(version, file).toBe(programVersion);
  }
});

test('the version contains the wire version: 0.32.0 speaks version 32', () => {
  expect(programVersion).toMatch(new RegExp(`^0\\.${wireVersion}\\.\\d+$`));
});

test.each(['ring-builder', 'ring-server'])('%s --version prints the version', async (program) => {
  const launcher = path.join(root, 'tools', program, 'launcher.mjs');
  const say = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [launcher, ...args])).stdout;
  expect(await say('--version')).toBe(`${program} ${programVersion}\n`);
  const document = { program, version: programVersion };
  expect(JSON.parse(await say('--json', '--version'))).toEqual(document);
});
