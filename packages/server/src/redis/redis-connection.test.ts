// What a connection of the Redis protocol holds in memory, and in which order it writes.
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { byteText } from '@ringwright/base/as-buffer';
import { KIB, redisKeysAtOnce } from '@ringwright/base/limits';
import { expect, onTestFinished, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { writeByCall } from '../../../../test/support/write-by-call.ts';
import { credentialFrom } from '../access/credential.ts';
import { LongWrites } from '../coordinate/long-writes.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { RingRequests } from '../rings/ring-requests.ts';
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

test('a key keeps the value of a SET that follows an MSET of many keys', async () => {
  const active = activeOn(servedRing({ replicas: 1, devices: 1, power: 0 }), 0);
  const stored = new Map<string, { readonly ms: number; readonly value: string }>();
  const call = async (
    ...[, , { key, value, ms }]: [
      unknown,
      unknown,
      { key: Uint8Array; value: Uint8Array; ms: number },
    ]
  ): Promise<object> => {
    await new Promise((resolve) => setImmediate(resolve));
    const [name, text] = [byteText(key), byteText(value)];
    if (ms > (stored.get(name)?.ms ?? 0)) stored.set(name, { ms, value: text });
    return { kind: 'stored' };
  };
  let ms = 0;
  const coordinator = {
    rings: { get: () => active, list: () => [active] },
    clock: { machineMs: () => active.activatedMs, nowMs: () => active.activatedMs },
    issueStamp: () => ({ ms: ++ms, tie: 0 }),
    requests: new RingRequests(),
    longWrites: new LongWrites(0),
    devices: { call, write: writeByCall(call as unknown as DeviceCaller['call']) },
  };
  const [client] = await connected({ coordinator });
  const others = Array.from({ length: redisKeysAtOnce }, (_, at) => `k${at} other`).join(' ');
  client.end(`MSET ${others} last first\r\nSET last second\r\n`);
  await once(client, 'end');
  expect([stored.size, stored.get('last')?.value]).toEqual([redisKeysAtOnce + 1, 'second']);
});
