// A request is held open across a change of the ring: `servers` shows it on the old version until
// it ends.

import { waitFor } from '@ringwright/node/wait-for';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { sendRing } from '@ringwright/wire/send-ring';
import { expect, test } from 'vitest';
import { Arguments } from '../../tools/ring-builder/cli/arguments.ts';
import { type Context, linesOf } from '../../tools/ring-builder/cli/command.ts';
import { command } from '../../tools/ring-builder/commands/monitor/servers.ts';
import { withServer } from '../../tools/ring-builder/servers/server-connection.ts';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';

interface Line {
  readonly address: string;
  readonly version: number | null;
  readonly requests: readonly { version: number; coordinated: number; answered: number }[];
}

/**
 * Runs `ring-builder servers` in this process: on a busy machine, a new process would start only
 * after the timeouts.
 */
async function servers(rings: string): Promise<{ servers: Line[]; table: readonly string[] }> {
  // The command reads little else of its context.
  const next = (command: string): string => command;
  const context = { rings, next, nowMs: Date.now, tell: next } as unknown as Context;
  const { json, lines } = await command.run(new Arguments({ ring: keyspace }), context);
  return { servers: (json as { servers: Line[] }).servers, table: linesOf(lines) };
}

test('a write that waits for two paused devices is shown on the old version', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const [first, ...others] = cluster.servers;
  if (first === undefined) throw new Error('no servers');
  await Promise.all(cluster.servers.map((server) => server.ready()));
  await cluster.commit('set-device', 'd0', '--meta', 'version 2');
  const { bytes, id } = await readVersion(cluster.rings, keyspace, 'head');
  const requests = async () => (await first.status()).rings[0]?.requests ?? [];

  for (const server of others) server.pause();
  const put = { method: 'PUT', path: `/v1/${keyspace}/key`, body: 'value' } as const;
  const held = askServer(first.place.port, put);
  held.catch(() => undefined); // a failure before it is awaited is reported by itself
  await waitFor('the write to be under way', {
    ask: requests,
    until: (all) => all.some(({ version, coordinated }) => version === 1 && coordinated === 1),
  });
  const head = { keyspace, version: 2, id, bytes, deltaFrom: async () => null, timeoutMs: 5_000 };
  await withServer(first.address, (server) => sendRing(server, head));
  expect((await requests())[0]).toMatchObject({ version: 1, coordinated: 1 });
  const seen = await servers(cluster.rings);
  for (const server of others) server.resume();
  const line = seen.servers.find(({ address }) => address === first.address);
  expect(line).toMatchObject({ version: 2 });
  expect(line?.requests[0]).toMatchObject({ version: 1, coordinated: 1 });
  expect(seen.table.find((row) => row.includes('ON OLDER'))).toBeDefined();
  expect(seen.table.find((row) => row.startsWith(first.address))).toMatch(/Z +2 +[1-9]\d* /);

  // On a very busy machine the write has ended by its timeout.
  expect([204, 503]).toContain((await held).status);
  await cluster.push();
  await waitFor('nothing to be under way on version 1', {
    ask: requests,
    until: (all) => all.every(({ version }) => version > 1),
  });
});
