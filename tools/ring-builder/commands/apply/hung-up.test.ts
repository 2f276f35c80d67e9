// Tests what commands say about a server that closes connections without TLS.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('push and trash suggest --ca for a server that closes plain connections', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json(`add cities r1z1-${address}/sdb 1`);
  await tool.json('commit cities -m first');
  for (const typed of ['push cities', 'trash cities list', 'trash cities confirm']) {
    const { exit, lines } = await tool.answer(typed);
    expect([typed, exit]).toEqual([typed, 4]);
    expect(lines.join('\n'), typed).toContain('use --ca FILE; or, for a ring in this folder');
  }
});
