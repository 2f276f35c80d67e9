// Tests that a rollout checks for forks before it pushes anything.
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../../test/support/ring-status.ts';
import { statusServer } from '../../../../test/support/status-server.ts';
import type { RingStatus } from '../../servers/server-status.ts';

test('a rollout is refused while a server reports a fork, and pushes nothing', async () => {
  // Each reading of the clock advances it.
  let nowMs = Date.parse('2026-11-21T03:00:00Z');
  const tool = await ringBuilderHere({ nowMs: () => (nowMs += 100) });
  let ring: RingStatus | null = null;
  let upgrades = 0;
  const { port, server } = await statusServer(() => ({ rings: ring === null ? [] : [ring] }));
  server.on('upgrade', (_, socket) => {
    upgrades += 1;
    socket.destroy();
  });
  const rings = join(tool.folder, 'rings');
  await tool.json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  await tool.json(`add cities r1z1-127.0.0.1:${port}/b 1`);
  await tool.json('commit cities -m second');
  const head = await readVersion(rings, 'cities', 'head');
  expect(head.ring.moves).toHaveLength(4);

  const [id, other] = ['a'.repeat(64), 'b'.repeat(64)];
  const fork = { version: 1, id, other, from: 'x', atMs: 0, settled: null };
  ring = { ...wellOf(head.ring, 0), fork };
  const error: unknown = await tool
    .answer('rollout cities --stall-timeout 1')
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'RING_FORK', exit: 5 });
  expect(error).toMatchObject({
    message: expect.stringContaining('aaaaaaaaaaaa and bbbbbbbbbbbb'),
  });
  expect(error).toMatchObject({
    hint: expect.stringContaining('settle cities --rings RIGHT -m REASON'),
  });
  expect(upgrades).toBe(0);
  expect((await readVersion(rings, 'cities', 'head')).id).toBe(head.id);

  // A settled fork is over, so the rollout continues with the push.
  ring = { ...ring, fork: { ...fork, settled: { version: 1, id, reason: 'seen' } } };
  const later = await tool.refusal('rollout cities --stall-timeout 1');
  expect([later.code, upgrades > 0]).toEqual(['SERVERS_NOT_CONFIRMED', true]);
});
