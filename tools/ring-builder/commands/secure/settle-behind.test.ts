// Tests settle with a history that has fewer versions than a server: the commands of its hint work.
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../../test/support/ring-status.ts';
import { statusServer } from '../../../../test/support/status-server.ts';
import type { RingStatus } from '../../servers/server-status.ts';

test.each([
  ['a head at rest', []],
  ['a split in flight', ['split cities 0', 'commit cities -m split']],
])('the hint creates the missing versions, then settle succeeds: %s', async (_name, typed) => {
  const tool = await ringBuilderHere();
  let status: RingStatus | null = null;
  const { port } = await statusServer(() => ({ rings: status === null ? [] : [status] }));
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  for (const command of typed) await tool.json(command);
  const { ring } = await readVersion(join(tool.folder, 'rings'), 'cities', 'head');
  status = { ...wellOf(ring, 0), version: ring.version + 2, id: 'b'.repeat(64) };
  const settle = (): Promise<unknown> =>
    tool.answer('settle cities -m ours --yes').catch((thrown: unknown) => thrown);

  for (const missing of ['2 versions are', '1 version is']) {
    const error = (await settle()) as { readonly code: string; readonly hint: string };
    expect(error).toMatchObject({
      code: 'RING_OLDER',
      hint: expect.stringContaining(`the history here is still the right one, ${missing} missing`),
    });
    const [, commands = ''] = error.hint.split('then settle: ');
    for (const one of commands.split(' && ')) {
      const words = [...one.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
      expect(words[0]).toBe('ring-builder');
      const other = words.map((word) => word.replace('one more version', missing));
      expect(await tool.json(other.slice(1))).toMatchObject({ changed: true });
    }
  }
  expect(await settle(), 'settle succeeds once no version is missing').not.toBeInstanceOf(Error);
});
