// Tests that a rollout needs the confirmation of a server even with --skip-down.
import { freePorts } from '@ringwright/node/free-ports';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('a rollout with --skip-down fails if every server is down', async () => {
  const ports = await freePorts(3);
  const tool = await ringBuilderHere({ nowMs: Date.now });
  const devices = ports.map((port, id) => `r1z${id}-127.0.0.1:${port}/sd${id} 1`);
  await tool.json('create cities --partitions 8 --replicas 2 --min-part-hours 0 --unsigned');
  await tool.json(`add cities ${devices.join(' ')}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  await tool.json('set-weight cities d0 2');
  await tool.json('commit cities -m heavier --override small');
  const refused = await tool.refusal('rollout cities --skip-down --stall-timeout 1');
  expect(refused).toEqual({ exit: 4, code: 'SERVERS_NOT_CONFIRMED' });
  const { ring } = await readVersion(`${tool.folder}/rings`, 'cities', 'head');
  expect(ring).toMatchObject({ version: 2 });
  expect((await tool.answer('servers cities')).next).not.toContain('skip-down');
});
