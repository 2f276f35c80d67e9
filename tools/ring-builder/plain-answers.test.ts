// Tests the answers to typing mistakes: they say what is wrong first, in words that can be typed.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';
import { parseCommandLine } from './command-line.ts';
import { printError } from './print-error.ts';

async function committed() {
  const tool = await ringBuilderHere();
  await tool.json('create notes --partitions 8 --replicas 2');
  const devices = [1, 2, 3].map((n) => `r1z${n}-127.0.0.1:${n}/sd${n} 1`).join(' ');
  await tool.json(`add notes ${devices}`);
  await tool.json('commit notes -m first');
  return tool;
}

test('why treats a word that is also a device name as a key, and reports this', async () => {
  const tool = await committed();
  expect(await tool.text('why notes sd2')).toContain(
    'sd2 was treated as a key; a device also has this name: ring-builder why notes d1',
  );
  for (const command of ['why notes other', 'why notes sd2 --as-key']) {
    expect(await tool.text(command), command).not.toContain('was treated as a key');
  }
});

test('force checks its arguments before it asks for a confirmation', async () => {
  const tool = await committed();
  for (const [which, code] of [
    ['d1', 'MOVE_UNKNOWN'],
    ['8', 'USAGE'],
    ['7', 'CONFIRMATION_NEEDED'],
  ]) {
    expect(await tool.refusal(`moves notes force ${which} --reason test`)).toMatchObject({ code });
  }
});

test('the limits of copies are unknown if no server answered', async () => {
  const tool = await committed();
  expect(await tool.text('moves notes rate 50MB/s')).toContain('the limits of copies are unknown');
});

test('a missing file, a missing port and an unreachable server are reported as such', async () => {
  const tool = await committed();
  await expect(tool.answer('add notes --from nofile')).rejects.toMatchObject({
    message: '--from nofile: no such file',
  });
  await expect(tool.answer('restore more --from db1')).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('a server needs a port'),
    hint: expect.stringContaining('restore more --from 10.0.0.1:6200'),
  });
  await expect(tool.answer('restore more --from 127.0.0.1:1')).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    hint: expect.stringContaining('check that a ring-server listens there'),
  });
});

test.each([
  ['compare', '{"nodes": 10, "replicas": 3}'],
  ['simulate', 'tools/bench/scenarios/S1.json'],
])('%s with a ring reports that it takes a scenario, with an example', async (command, example) => {
  const tool = await committed();
  await expect(tool.answer(`${command} notes`)).rejects.toMatchObject({
    code: 'USAGE',
    message: `${command} takes a scenario (a JSON file), not a ring; notes: no such file`,
    hint: expect.stringContaining(example),
  });
});

test('the help of health explains the exit code 4', async () => {
  const help = await parseCommandLine(['health', '--help'], 200);
  expect(help.kind === 'help' && help.text.replaceAll(/\s+/g, ' ')).toContain(
    '4: only servers are down',
  );
});

test('a staged setting is printed as it is typed', async () => {
  const tool = await committed();
  expect(await tool.text('set notes --min-part-hours 24')).toContain(
    'staged: set --min-part-hours 24',
  );
});

test('a missing folder is reported with a hint to create it or to name another path', async () => {
  const hint = 'a folder in that path does not exist: create it, or name another path';
  const tool = await committed();
  const file = join(tool.folder, 'none', 'file');
  const failed: unknown = await tool.answer(['export-swift', 'notes', file]).catch((one) => one);
  const naming = { ringsOption: '', serverOptions: '', ring: undefined };
  const { exit, lines } = printError(failed, { inJson: true, help: '', naming });
  expect([exit, lines]).toEqual([4, [expect.stringContaining(JSON.stringify(hint))]]);

  const other = await ringBuilderHere();
  expect(await other.refusal('access log')).toEqual({ exit: 2, code: 'RINGS_UNKNOWN' });
  await other.json('create more --partitions 8 --replicas 1 --key-folder keys');
  const grant = ['access', 'grant', 'ada', '--operator', '--out', file];
  await expect(other.answer(grant)).rejects.toMatchObject({ code: 'FILE_UNFIT', hint });
});

test('trash restore without names says where they are listed', async () => {
  const tool = await committed();
  await expect(tool.answer('trash notes restore')).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('ring-builder trash notes list'),
  });
});

test('archive-data gives hints for an operator when another program listens', async () => {
  const other = createServer((_, response) => response.writeHead(404).end());
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const tool = await ringBuilderHere();
  await tool.json('create notes --partitions 8 --replicas 1');
  await tool.json(`add notes r1z1-127.0.0.1:${port}/sd1 1`);
  await tool.json('commit notes -m first');
  await expect(tool.answer(`archive-data notes --to ${tool.folder}/a`)).rejects.toMatchObject({
    code: 'PEER_FAILED',
    hint: expect.stringContaining('ring-builder set-device RING dN --port PORT'),
  });
  other.close();
});

test('a rule that an edit of builder.json breaks is not called a bug alone', async () => {
  const tool = await committed();
  await tool.json('set-weight notes d1 2');
  const path = join(tool.folder, 'rings', 'notes', 'builder.json');
  const text = await readFile(path, 'utf8');
  const edited = text.replace('"port":1,', '"port":70000,').replace(/,\n {2}"digest": .*/, '');
  await writeFile(path, edited);
  const commit = tool.answer('commit notes -m weight --override test');
  await expect(commit).rejects.toMatchObject({
    code: 'RING_AUDIT_FAILED',
    hint: expect.stringContaining('ring-builder verify notes names the file'),
  });
});
