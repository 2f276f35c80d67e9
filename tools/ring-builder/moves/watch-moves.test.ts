// Tests what is shown, and which command is next, when nothing is in flight any more, and that a
// look ends when the servers refuse the token.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { idOf, moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import type { Context } from '../cli/command.ts';
import { watchMoves } from './watch-moves.ts';

const one = { partition: 2, replica: 0, from: 2, to: 1 };
const [still, moving] = moveVersions(servedRing({ replicas: 2 }), [one]);
const headOf = (ring: typeof still) =>
  ({ ring, id: idOf(ring), state: null }) as unknown as StoredVersion;

test('moves of the previous version are not shown beside the finished ones', async () => {
  const lines: string[] = [];
  const context = {
    nowMs: () => 0,
    show: (drawing: Parameters<Context['show']>[0]) => void lines.push(drawing.inLine()),
  } as unknown as Context;
  const watch = watchMoves(context, () => 1);
  await watch.look(headOf(moving), 'joiners copy');
  const after = { ...moving, version: moving.version + 1, moves: [] };
  watch.show(headOf(after), 'sending to the servers');
  expect(lines).toEqual([
    expect.stringMatching(/: joiners copy; 1 failed; 1 finished; partition 2: /),
    `cities version ${after.version}: sending to the servers; 1 finished`,
  ]);
});

test('a look ends if no server accepts the token any more', async () => {
  const refusal = { code: 'TOKEN_REFUSED', message: 'not granted', hint: '', details: {} };
  const server = createServer((_, response) => {
    response.writeHead(401).end(JSON.stringify(refusal));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const devices = moving.devices.map((device) => device && { ...device, port });
  const context = { nowMs: () => 0, show: () => undefined } as unknown as Context;
  const look = watchMoves(context, () => 0).look(headOf({ ...moving, devices }), 'joiners copy');
  await expect(look).rejects.toMatchObject({
    code: 'TOKEN_REFUSED',
    hint: expect.stringContaining('it continues where it stopped'),
  });
});

test('rollout is not the next command if there is nothing to roll out', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 4 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:1/sd1 1');
  await tool.json('commit cities -m first');
  expect(await tool.text('moves cities pause all')).toContain('Next: ring-builder status cities');
});
