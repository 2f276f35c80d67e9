// What a read does when all of a client's connections break.
import { CodedError } from '@ringwright/base/coded-error';
import type { CallChannel } from '@ringwright/wire/call-channel';
import { coordinateGet } from '@ringwright/wire/coordination';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fakeServer } from '../../../test/support/fake-server.ts';
import { RingFollower } from './ring-follower.ts';

const settings = { keyspace: 'notes', timeoutMs: 1, token: null, identity: null, proof: null };

/** Returns a read from three servers. Its first `breaks` calls end with their connection. */
function readWith({ breaks }: { breaks: number }) {
  const follower = new RingFollower([], { ...settings, reader: 'programmer', near: null });
  vi.spyOn(follower, 'choose').mockReturnValue(['a', 'b', 'c']);
  vi.spyOn(follower, 'open').mockResolvedValue({} as CallChannel);
  vi.spyOn(follower, 'noteRingVersion').mockReturnValue();
  const call = vi.fn((): Promise<{ ringVersion: number }> => {
    if (call.mock.calls.length > breaks) return Promise.resolve({ ringVersion: 7 });
    return Promise.reject(new CodedError('PEER_UNREACHABLE', 'the connection is closed'));
  });
  return { follower, call, read: () => follower.ask({ partition: 0, hedgeMs: 1_000 }, call) };
}

test('if the connections to all servers broke, a read is sent over new ones', async () => {
  const { call, read } = readWith({ breaks: 3 });
  expect(await read()).toEqual({ ringVersion: 7 });
  expect(call).toHaveBeenCalledTimes(4);
});

test('a read ends when the new connections break too, or the client is closed', async () => {
  const broken = readWith({ breaks: 100 });
  await expect(broken.read()).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(broken.call).toHaveBeenCalledTimes(6);
  const closed = readWith({ breaks: 100 });
  const read = closed.read();
  closed.follower.close();
  await expect(read).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(closed.call).toHaveBeenCalledTimes(1);
});

test('the only connection broke a moment ago: a new one is made after its pause', async () => {
  const answer = vi.fn((): unknown => {
    if (answer.mock.calls.length > 1) return { record: null, ringVersion: 7 };
    server.break();
    return new Promise(() => undefined);
  });
  const server = await fakeServer([
    [coordinateGet.method, { request: coordinateGet.request, answer }],
  ]);
  const options = { ...settings, timeoutMs: 10_000, reader: 'programmer', near: null } as const;
  const follower = new RingFollower([], options);
  onTestFinished(() => follower.close());
  vi.spyOn(follower, 'choose').mockReturnValue([`127.0.0.1:${server.port}`]);
  vi.spyOn(follower, 'noteRingVersion').mockReturnValue();
  const key = Buffer.from('a');
  const request = { keyspace: 'notes', key, consistency: 'one', session: null } as const;
  const read = follower.ask({ partition: 0, hedgeMs: 1_000 }, (channel, timeoutMs) =>
    channel.call(coordinateGet, request, timeoutMs),
  );
  expect(await read).toEqual({ record: null, ringVersion: 7 });
  expect(server.connections).toBe(2);
});
