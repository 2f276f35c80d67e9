// What a connection of the Redis protocol holds in memory.
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { KIB } from '@ringwright/base/limits';
import { expect, onTestFinished, test } from 'vitest';
import { credentialFrom } from '../access/credential.ts';
import { RedisConnection } from './redis-connection.ts';
import { TurnBudget } from './turn-budget.ts';

type Ports = ConstructorParameters<typeof RedisConnection>[2];

const nothing = (): void => undefined;

/** Returns a client's socket and the server's; `ports`: those that the commands use. */
async function connected(ports: object): Promise<readonly [Socket, Socket]> {
  const common = {
    ...{ guard: { demands: false }, turns: new TurnBudget() },
    ...{ onCommand: nothing, onProtocolError: nothing, onRequest: nothing },
    held: { hold: nothing, noteProgress: nothing },
    onBug: (error: unknown) => {
      throw error;
    },
  };
  const server = net.createServer({ allowHalfOpen: true }, (socket: Socket) => {
    const credential = credentialFrom('', null, socket);
    const choices = { keyspace: 'cities', consistency: 'one', protocol: 2 } as const;
    const client = { ...choices, id: 1, address: '', name: '', credential, isInRefused: false };
    void new RedisConnection(socket, client, { ...common, ...ports } as unknown as Ports);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [socket] = await accepted;
  return [client.resume(), socket];
}

test.each(['QUIT\r\n', '*1\r\n!'])('what follows %j is not kept', async (last) => {
  const held: number[] = [];
  const hold = (bytes: number): void => void held.push(bytes);
  const [client, socket] = await connected({ held: { hold, noteProgress: nothing } });
  client.write(last);
  await once(client, 'end');
  held.length = 0;
  client.end(Buffer.alloc(300 * KIB, 'x'));
  if (!socket.closed) await once(socket, 'close');
  expect(held.length).toBeGreaterThan(0);
  expect(Math.max(...held)).toBeLessThan(KIB);
});
