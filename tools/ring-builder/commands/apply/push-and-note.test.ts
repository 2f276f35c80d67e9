// Tests when a push is noted in the log, with a server that accepts every ring.
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { waitFor } from '@ringwright/node/wait-for';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { ringOffer } from '@ringwright/wire/rings';
import { expect, onTestFinished, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { pushAndNote } from './push-and-note.ts';

/** Answers that it has every ring. */
const offered = { request: ringOffer.request, answer: () => ({ wanted: false, active: null }) };

async function pushDetails(folder: string): Promise<object[]> {
  const entries = await readLog(`${folder}/rings`, 'cities');
  return entries.filter(({ kind }) => kind === 'push').map(({ details }) => details);
}

/** Returns the folder of a ring, and what pushes it. */
async function committedOn(ports: readonly number[]) {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  const pairs = ports.map((port) => `r1z1-127.0.0.1:${port}/${port} 1`).join(' ');
  await tool.json(`add cities ${pairs}`);
  await tool.json('commit cities -m first');
  const version = await readVersion(`${tool.folder}/rings`, 'cities', 'head');
  const targets = ringTargets(version.ring, version.state);
  const step = { targets, keepGoing: true, tell: null };
  return {
    folder: tool.folder,
    push: () => pushAndNote(tool.contextOf([]), version, step),
  };
}

/** A server that accepts connections and never answers. */
async function silentServer(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('the first acceptance of a new ring is noted while another server is silent', async () => {
  const noted = Promise.withResolvers<boolean>();
  let folder = '';
  const silent = await silentServer((socket) => {
    // The tool gives up first if the note waits for this server.
    socket
      .on('error', () => undefined)
      .on('close', () => noted.resolve(false))
      .resume();
    const ask = () => pushDetails(folder);
    const first = waitFor('the note', { ask, until: ({ length }) => length > 0 });
    void first.then(() => {
      noted.resolve(!socket.destroyed);
      socket.destroy();
    });
  });
  const { port } = await fakeServer([[ringOffer.method, offered]]);
  const ring = await committedOn([port, silent]);
  folder = ring.folder;
  const servers = await ring.push();
  expect(servers.map(({ outcome }) => outcome)).toEqual(['accepted', 'unreachable']);
  expect(await noted.promise).toBe(true);
  expect(await pushDetails(folder)).toEqual([{ accepted: 1, servers: 2 }]);
});

test('a push that cannot be noted reports that servers have the version', async () => {
  const { port } = await fakeServer([[ringOffer.method, offered]]);
  const { folder, push } = await committedOn([port]);
  const claim = { host: 'elsewhere', pid: 1, user: 'bob', time: '2026-11-21T02:00:00.000Z' };
  await writeFile(`${folder}/rings/cities/.lock-elsewhere-1-1`, JSON.stringify(claim));
  await expect(push()).rejects.toMatchObject({
    code: 'LOCK_HELD',
    message: expect.stringMatching(/^servers have version 1 of cities now, but its log does not/),
    hint: expect.stringMatching(/; then: ring-builder push cities$/),
  });
});
