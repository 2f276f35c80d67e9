// Tests that a rollout needs the confirmation of a server even with --skip-down, and what it takes
// from a refusal.
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { freePorts } from '@ringwright/node/free-ports';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { ringOffer } from '@ringwright/wire/rings';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { author } from '../../../../test/support/small-repository.ts';
import { waitForConfirms } from './wait-confirms.ts';

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

test('a server that has a newer head of the store is no failure of a rollout', async () => {
  const older = () => {
    throw new CodedError('RING_OLDER', 'version 2 is active here');
  };
  const offer = { request: ringOffer.request, answer: older };
  const { port } = await fakeServer([[ringOffer.method, offer]]);
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-stores-'));
  const [url, stores] = [`dir:${folder}/heads`, [`${folder}/a`]];
  await mkdir(`${folder}/a`);
  const [tool, other] = [await ringBuilderHere(), await ringBuilderHere()];
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await useStore(`${tool.folder}/rings`, { url, stores });
  await tool.json('commit cities -m first');
  const first = await readVersion(`${tool.folder}/rings`, 'cities', 'head');
  await useStore(`${other.folder}/rings`, { url, stores });
  await catchUp({ rings: `${other.folder}/rings`, ring: 'cities' }, author);
  await other.json('set-device cities d0 --meta rack-7');
  await other.json('commit cities -m second');
  const confirmed = waitForConfirms(tool.contextOf([]), first, { stallMs: 0, skipDown: false });
  await expect(confirmed).rejects.toMatchObject({ code: 'HEAD_MOVED' });
  const { ring } = await readVersion(`${tool.folder}/rings`, 'cities', 'head');
  expect(ring.version).toBe(2);
});
