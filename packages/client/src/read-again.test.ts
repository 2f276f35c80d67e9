// What a read does when all of a client's connections break.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { Client } from './client.ts';
import type { RingFollower } from './ring-follower.ts';

/** Returns a client of three servers whose first `breaks` calls end with their connection. */
function clientWith({ breaks }: { breaks: number }) {
  let calls = 0;
  const call = (): Promise<unknown> => {
    calls += 1;
    if (calls > breaks) return Promise.resolve({ record: null, ringVersion: 1 });
    return Promise.reject(new CodedError('PEER_UNREACHABLE', 'the connection is closed'));
  };
  const follower = {
    ring: { partitionOf: () => 0 },
    choose: () => ['a', 'b', 'c'],
    open: () => Promise.resolve({ call }),
    noteRingVersion: () => undefined,
    avoid: () => undefined,
    close: () => undefined,
  } as unknown as RingFollower;
  const settings = { keyspace: 'notes', session: null, timeoutMs: 1, smearMs: 0 };
  return {
    client: new Client(follower, { ...settings, consistency: 'quorum' }),
    calls: () => calls,
  };
}

test('if the connections to all servers broke, a read is sent over new ones', async () => {
  const { client, calls } = clientWith({ breaks: 3 });
  expect(await client.get('key')).toBeNull();
  expect(calls()).toBe(4);
});

test('a read ends when the new connections break too, or the client is closed', async () => {
  const broken = clientWith({ breaks: 100 });
  await expect(broken.client.get('key')).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(broken.calls()).toBe(6);
  const closed = clientWith({ breaks: 100 });
  const read = closed.client.get('key');
  await closed.client.close();
  await expect(read).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(closed.calls()).toBe(1);
});
