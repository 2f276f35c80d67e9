// Tests the commands that verify suggests: a copy from a server does not help with every finding.
import { rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { linesOf } from '../../cli/command.ts';
import { waysBack } from './verify.ts';

test('the file of an interrupted commit is removed by the next staged change', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 4 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/sdb 1');
  await tool.json('commit cities -m first');
  await writeFile(`${tool.folder}/rings/cities/versions/0000002.ring`, 'half of it');
  expect(await tool.answer('verify cities')).toMatchObject({ exit: 1 });
  const stdout = await tool.text('verify cities');
  expect(stdout).toContain('0000002.ring is left over from an interrupted commit');
  expect(stdout).toContain('ring-builder commit cities -m REASON');
  expect(stdout).not.toContain('restore');
  await tool.json('set-weight cities d0 2');
  expect(await tool.json('verify cities')).toMatchObject({ ok: true });
});

test('for a missing root verify suggests a restore with --trust', () => {
  const missing = { code: 'VERSION_ROOT_UNKNOWN', message: 'signed under root f' };
  const [way, ...more] = linesOf(waysBack('cities', { findings: [missing], signed: false }));
  expect(more).toEqual([]);
  expect(way).toContain('restore cities --from IP:PORT --trust ID --replace');
  expect(way).toContain('key generate');
  const both = [missing, { code: 'VERSION_ID_WRONG', message: 'another id' }];
  expect(linesOf(waysBack('cities', { findings: both, signed: true }))[1]).toMatch(
    /^if the folder is in git, git log -p/,
  );
});

test('if the log is lost, verify suggests no commit, which would be refused', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 4 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/sdb 1');
  await tool.json('commit cities -m first');
  await rm(`${tool.folder}/rings/cities/log.jsonl`);
  const stdout = await tool.text('verify cities');
  expect(stdout).toContain('0000001.ring is left over from an interrupted commit');
  expect(stdout).not.toContain('commit cities -m');
  expect(stdout).toMatch(/^if the folder is in git, git log -p/m);
  await expect(tool.answer('status cities')).rejects.toThrow('/cities/log.jsonl has no line');
});
