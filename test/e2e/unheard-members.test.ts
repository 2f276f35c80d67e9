// Members whose own rings do not name the servers that could inform them: members of another ring,
// at another address, or wiped. Any server that greets them sends what they lack.
import fs from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { ringBuilderIn } from '../support/ring-builder-program.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

/** Starts servers sa, sb, ..., and a builder whose rings they do not have. */
async function serversOf(count: number) {
  const folder = await fs.mkdtemp(join(os.tmpdir(), 'ringwright-e2e-'));
  const ports = await freePorts(count);
  const servers = ports.map((port, index) => {
    const device = `s${'abc'.charAt(index)}`;
    return new ServerUnderTest({ device, zone: index + 1, port, data: join(folder, device) });
  });
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await fs.rm(folder, { recursive: true, force: true });
  });
  await Promise.all(servers.map((server) => server.start()));
  const builder = await ringBuilderIn(folder);
  /** Pushes the ring while `away` is down, and starts `away` as soon as `member` has it. */
  const pushWithout = async (
    name: string,
    { member, away }: { readonly member: ServerUnderTest; readonly away: ServerUnderTest },
  ): Promise<void> => {
    // The push waits until the server with the ring is ready, which takes both servers.
    const pushing = builder.run(['push', name, '--json']);
    await waitFor(`${member.place.device} to be given ${name}`, {
      ask: () => member.status(),
      until: ({ rings }) => rings.some(({ ring: held }) => held === name),
    });
    await away.start();
    const { exit, stdout } = await pushing;
    const { accepted, unreachable } = JSON.parse(stdout);
    expect({ exit, accepted, unreachable }).toEqual({ exit: 4, accepted: 1, unreachable: 1 });
  };
  const ring = async (name: string, members: readonly ServerUnderTest[]): Promise<void> => {
    const counts = ['--partitions', '4', '--replicas', '2', '--min-part-hours', '0'];
    await builder.json(['create', name, ...counts]);
    await builder.json(['add', name, ...members.flatMap(({ text }) => [text, '1'])]);
    await builder.json(['commit', name, '-m', 'first']);
  };
  return { folder, servers, builder, ring, pushWithout };
}

/** Waits until these rings are active on the server, each as `name version`. */
async function holds(server: ServerUnderTest, expected: readonly string[]): Promise<void> {
  await waitFor(`${server.place.device} to have ${expected.join(', ')}`, {
    ask: async () => {
      const { rings } = await server.status();
      return rings.map(({ ring: name, version }) => `${name} ${version}`).sort();
    },
    until: (held) => String(held) === String(expected),
  });
}

test('a member receives another ring that names it, and both after it was wiped', async () => {
  const { servers, builder, ring, pushWithout } = await serversOf(3);
  const [sa, sb, sc] = servers as [ServerUnderTest, ServerUnderTest, ServerUnderTest];
  await ring('aa', [sa, sb]);
  await builder.json('push aa');
  await sb.kill();
  await ring('bb', [sc, sb]);
  await pushWithout('bb', { member: sc, away: sb });
  await holds(sb, ['aa 1', 'bb 1']);
  await waitFor('both replicas to take a write', {
    ask: async () => {
      const path = '/v1/bb/key?consistency=all';
      return (await askServer(sc.place.port, { method: 'PUT', path, body: 'value' })).status;
    },
    until: (status) => status === 204,
  });

  await sb.kill();
  await fs.rm(sb.place.data, { recursive: true });
  await sb.start();
  await holds(sb, ['aa 1', 'bb 1']);
}, 90_000);

test('a member receives the ring in which all addresses are new', async () => {
  const { servers, builder, ring, pushWithout } = await serversOf(2);
  await ring('cc', servers);
  await builder.json('push cc');
  const ports = await freePorts(2);
  await Promise.all(servers.map((server) => server.stop()));
  for (const [index, port] of ports.entries()) {
    await builder.json(['set-device', 'cc', `d${index}`, '--port', String(port)]);
    servers.push(new ServerUnderTest({ ...servers[index]!.place, port }));
  }
  await builder.json(['commit', 'cc', '-m', 'moved']);
  const [sa, sb] = servers.slice(2) as [ServerUnderTest, ServerUnderTest];
  await sa.start();
  await pushWithout('cc', { member: sa, away: sb });
  await holds(sb, ['cc 2']);
  expect((await sb.status()).rings[0]?.device).not.toBeNull();
}, 90_000);
