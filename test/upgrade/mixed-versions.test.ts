// Servers of two wire versions in one ring: each is pushed to, serves reads and writes, and is
// copied from, in both directions. The older servers are current programs that speak the oldest
// version. With RINGWRIGHT_OLDER=FOLDER they are the programs of an older checkout installed there.
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { oldestWireVersion, wireVersion } from '@ringwright/wire/wire-version';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { unequalReplicas } from '../support/replica-digests.ts';
import { ringBuilderIn, ringBuilderProgramIn } from '../support/ring-builder-program.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

/** Makes a current program speak only the oldest wire version. */
const olderWire = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith('/packages/wire/src/wire-version.ts')) return loaded;
      const version = ' wireVersion = ${oldestWireVersion}';
      const source = Buffer.from(loaded.source).toString().replace(/ wireVersion = \\d+/, version);
      return { ...loaded, source };
    },
  });`;
const preload = `data:text/javascript,${encodeURIComponent(olderWire)}`;
const olderNode = { options: ['--import', preload], environment: {} };
const checkout = process.env['RINGWRIGHT_OLDER'];
const older =
  checkout === undefined
    ? { node: olderNode }
    : { program: path.join(checkout, 'tools/ring-server/launcher.mjs') };
const VALUE_BYTES = 40_000;
const KEYS = 20;

async function fiveServers(folder: string): Promise<ServerUnderTest[]> {
  const ports = await freePorts(5);
  const servers = ports.map((port, at) => {
    const device = `sd${at + 1}`;
    const place = { device, zone: at + 1, port, data: path.join(folder, device) };
    return new ServerUnderTest({ ...place, ...([0, 1, 4].includes(at) ? older : {}) });
  });
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()));
  });
  return servers;
}

const keyPath = (key: number): string => `/v1/notes/key-${key}?consistency=all`;
const valueOf = (key: number, round: number): string => `${round}/${key}|`.padEnd(VALUE_BYTES, '.');

async function put(server: ServerUnderTest, key: number, round: number): Promise<void> {
  const sent = { method: 'PUT' as const, path: keyPath(key), body: valueOf(key, round) };
  await waitFor(`key-${key} to be stored through ${server.place.device}`, {
    ask: () => askServer(server.place.port, sent),
    until: ({ status }) => status === 204,
  });
}

/** Reads all keys through each server, from all holders. */
async function expectAll(servers: readonly ServerUnderTest[], round: number): Promise<void> {
  for (const { place } of servers) {
    for (let key = 0; key < KEYS; key += 1) {
      const { bytes } = await waitFor(`key-${key} through ${place.device}`, {
        ask: () => askServer(place.port, { path: keyPath(key) }),
        until: ({ status }) => status === 200,
      });
      expect(bytes.toString() === valueOf(key, round), `key-${key} of ${place.device}`).toBe(true);
    }
  }
}

test('old and new servers are pushed to, serve together and copy from each other', {
  timeout: 120_000,
}, async () => {
  expect(oldestWireVersion).toBeLessThan(wireVersion);
  await using folder = await scratchFolder();
  const servers = await fiveServers(folder.path);
  const first = servers.slice(0, 3);
  for (const server of servers) await server.start();
  if (checkout === undefined) {
    expect((await servers[0]?.status())?.wireVersion).toBe(oldestWireVersion);
  }

  const tool = await ringBuilderIn(folder.path);
  await tool.json('create notes --partitions 8 --replicas 2 --min-part-hours 0');
  await tool.json(['add', 'notes', ...first.flatMap(({ text }) => [text, '1'])]);
  await tool.json(['commit', 'notes', '-m', 'two old ones and a new one']);
  await tool.json('push notes');
  for (const server of first) await server.ready();
  for (const [at, server] of first.entries()) {
    for (let key = at; key < KEYS; key += 3) await put(server, key, 1);
  }
  await expectAll(first, 1);

  // A new server copies files from the old ones, then an old server from the new ones.
  for (const joiner of servers.slice(3)) {
    await tool.json(['add', 'notes', joiner.text, '1']);
    await tool.json(['commit', 'notes', '-m', `${joiner.place.device} joins`]);
    await tool.json('rollout notes');
    await expectAll([joiner], 1);
  }
  for (let key = 0; key < KEYS; key += 1) await put(servers[key % 5]!, key, 2);
  await expectAll(servers, 2);
  const { ring } = await readVersion(path.join(folder.path, 'rings'), 'notes', 'head');
  await waitFor('all replicas to be equal', {
    ask: () => unequalReplicas(ring),
    until: (faults) => faults.length === 0,
  });

  // An older tool queries servers of both versions.
  const olderTool = await ringBuilderProgramIn(folder.path, olderNode);
  for (const command of ['push notes', 'servers notes']) await olderTool.json(command);
  for (const server of servers) expect(await server.stop()).toBe(0);
});
