// Which servers a client queries, by the ring that it has learned.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { parseFailureDomain } from '@ringwright/ring/failure-domain';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { firstRing } from '@ringwright/ring/first-ring';
import type { CallChannel } from '@ringwright/wire/call-channel';
import { expect, onTestFinished, test } from 'vitest';
import { servedRing } from '../../../test/support/served-ring.ts';
import { RingFollower } from './ring-follower.ts';

/** Devices 0 to 3 in r1z1, r1z2, r2z1, r2z2; partition 0 is on devices 0, 1, 2. */
function ringInTwoRegions(): Uint8Array {
  const plain = servedRing({ devices: 4, replicas: 3, power: 0 });
  const devices = plain.devices.map((device, id) => ({
    ...device!,
    region: 1 + Math.floor(id / 2),
    zone: 1 + (id % 2),
  }));
  return encodeRing(firstRing({ ...plain, cluster: 'test', devices })).bytes;
}

const settings = {
  keyspace: 'cities',
  timeoutMs: 1,
  token: null,
  identity: null,
  proof: null,
  reader: 'programmer' as const,
};

async function portsAskedFrom(near: string | null): Promise<number[]> {
  const bytes = ringInTwoRegions();
  const answer = { id: 'ring', isDelta: false, bytes: bytes.length, data: bytes };
  const channel = { call: () => Promise.resolve(answer) } as unknown as CallChannel;
  const place = near === null ? null : parseFailureDomain(near);
  const follower = new RingFollower([], { ...settings, near: place });
  await follower.learn(channel);
  return follower.choose(0).map((address) => Number(address.split(':')[1]) - 6200);
}

test('holders come before others, and each group starts with the near ones', async () => {
  expect(await portsAskedFrom(null)).toEqual([0, 1, 2, 3]);
  expect(await portsAskedFrom('r1z2')).toEqual([1, 0, 2, 3]);
  expect(await portsAskedFrom('r2')).toEqual([2, 0, 1, 3]);
  expect(await portsAskedFrom('r9z9')).toEqual([0, 1, 2, 3]);
});

test('a closed client connects to no further server, such as the next one of a scan', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const follower = new RingFollower([address], { ...settings, timeoutMs: 1_000, near: null });
  follower.close();
  await expect(follower.open(address)).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
  expect(connections).toBe(0);
});
