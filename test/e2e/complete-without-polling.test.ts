// How servers report that all moves are complete, over one connection to each server.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { movesComplete } from '@ringwright/wire/moves';
import { expect, test } from 'vitest';
import { pauseUntilComplete } from '../../tools/ring-builder/moves/watch-moves.ts';
import {
  keepingConnections,
  withServer,
} from '../../tools/ring-builder/servers/server-connection.ts';
import { fakeServer } from '../support/fake-server.ts';
import { idOf, servedRing } from '../support/served-ring.ts';

const LONG_MS = 60_000;

/** Starts a server that reports `answer`; null: an older release that cannot report. */
function telling(answer: (() => Promise<boolean>) | null) {
  const told = async () => ({ complete: await answer?.() });
  const handler = { request: movesComplete.request, answer: told };
  return fakeServer(answer === null ? [] : [[movesComplete.method, handler]]);
}

function headOf(...ports: readonly number[]): StoredVersion {
  const ring = servedRing({ devices: ports.length, replicas: 1 });
  const devices = ring.devices.map((device, index) => device && { ...device, port: ports[index]! });
  // The tests read no other field of a version.
  return { ring: { ...ring, devices }, id: idOf(ring), state: null } as unknown as StoredVersion;
}

test('a pause ends when the last server reports, over one connection to each server', async () => {
  const last = Promise.withResolvers<boolean>();
  const servers = [await telling(async () => true), await telling(() => last.promise)];
  const head = headOf(...servers.map(({ port }) => port));
  await keepingConnections(async () => {
    const pause = pauseUntilComplete();
    await pause(head, 1); // ends by its timeout
    const ended = pause(head, LONG_MS);
    last.resolve(true);
    await ended;
    await pause(head, 1); // the look before came too early: no server is queried again at once
    await pause(head, LONG_MS);
  });
  expect(servers.map(({ connections }) => connections)).toEqual([1, 1]);
});

test('a pause lasts its full time if a server cannot report', async () => {
  for (const other of [(await telling(null)).port, 1]) {
    const { port } = await telling(async () => true);
    const begunMs = performance.now();
    await keepingConnections(() => pauseUntilComplete()(headOf(port, other), 50));
    expect(performance.now() - begunMs).toBeGreaterThanOrEqual(49);
  }
});

test('a broken connection is opened again, but not after the command has ended', async () => {
  const never = Promise.withResolvers<boolean>();
  const server = await telling(() => never.promise);
  const address = `127.0.0.1:${server.port}`;
  const meet = () => withServer(address, async (caller) => caller);
  const ended = Promise.withResolvers<void>();
  const late = await keepingConnections(async () => {
    const first = await meet();
    expect(await meet()).toBe(first);
    const request = { keyspace: 'cities', ringVersion: 1, waitMs: 0 };
    const asked = first.call(movesComplete, request, LONG_MS);
    server.break();
    await expect(asked).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    expect(await meet()).not.toBe(first);
    return { asked: ended.promise.then(meet) };
  });
  ended.resolve();
  await expect(late.asked).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(server.connections).toBe(2);
});
