// Tests a committed ring whose log is lost: no command says that the ring has no version.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('a committed ring without its log is damaged, and a new ring is empty', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  expect(await tool.json('log cities')).toMatchObject({ entries: [] });
  await expect(tool.answer('show cities')).rejects.toMatchObject({
    code: 'RING_EMPTY',
    hint: expect.stringContaining('ring-builder status cities names the next command: add'),
  });

  await tool.json('add cities r1z1-10.0.0.1:6200/a 1');
  await tool.json('commit cities -m first');
  const log = join(tool.folder, 'rings', 'cities', 'log.jsonl');
  for (const lose of [() => writeFile(log, ''), () => rm(log)]) {
    await lose();
    for (const command of ['log', 'show', 'diff', 'table', 'status', 'plan', 'servers']) {
      expect(await tool.refusal(`${command} cities`), command).toEqual({
        ...{ exit: 1, code: 'RING_LOG_DAMAGED' },
      });
    }
    // The next command can be typed as it is.
    const next = 'ring-builder list';
    expect(await tool.answer('verify cities')).toMatchObject({ exit: 1, next });
  }
});
