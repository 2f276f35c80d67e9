// Servers outside a ring that names the key of every device: a removed server that returns with its
// files, and gateways. The other servers grant them what their tokens allow, and nothing else.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type RingBuilder, ringBuilderIn } from '../support/ring-builder-program.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const slow = { timeout: 180_000 };

interface KeyedCluster {
  readonly tool: RingBuilder;
  readonly servers: readonly ServerUnderTest[];
  readonly args: readonly string[];
  /** Grants a peer token and returns the options of a server that presents it. */
  readonly tokenFor: (name: string, ...grants: string[]) => Promise<string[]>;
  readonly ask: (
    server: ServerUnderTest,
    path: string,
    body?: string,
  ) => Promise<{ status: number; code: string; bytes: Buffer }>;
}

async function keyedCluster(): Promise<KeyedCluster> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-outside-'));
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true }));
  const ada = path.join(folder, 'ada.token');
  const environment = {
    RING_BUILDER_KEYS: path.join(folder, 'keys'),
    RING_BUILDER_PASSPHRASE: 'correct horse',
  };
  const first = await ringBuilderIn(folder, { ...environment, RING_BUILDER_TOKEN_FILE: '' });
  await first.json('key generate ada');
  const mayAll = '--operator --metrics --read notes --write notes';
  await first.json(`access grant ada ${mayAll} --out ${ada}`);
  const tool = await ringBuilderIn(folder, { ...environment, RING_BUILDER_TOKEN_FILE: ada });
  const trust = ['--trust', path.join(folder, 'rings', 'trust.json')];
  const tokenFor = async (name: string, ...grants: string[]): Promise<string[]> => {
    const file = path.join(folder, `${name}.token`);
    await tool.answer(['access', 'grant', name, '--peer', ...grants, '--out', file]);
    return [...trust, '--token-file', file];
  };
  const args = await tokenFor('servers');
  const servers = (await freePorts(6)).map((port, index) => {
    const device = `sd${index + 1}`;
    return new ServerUnderTest({ device, zone: index + 1, port, data: path.join(folder, device) });
  });
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()));
  });
  const devices = servers.slice(0, 4);
  await Promise.all(devices.map((server) => server.start(args)));
  await tool.json('create notes --partitions 8 --replicas 3 --min-part-hours 0');
  await tool.json(['add', 'notes', ...devices.flatMap(({ text }) => [text, '1']), '--ask-key']);
  await tool.json('commit notes -m first');
  await tool.json('push notes');
  const authorization = `Bearer ${String(await fs.readFile(ada)).trim()}`;
  const ask: KeyedCluster['ask'] = async (server, at, body) => {
    const method = body === undefined ? 'GET' : 'PUT';
    const sent = { method, path: at, headers: { authorization }, ...(body && { body }) } as const;
    const answer = await askServer(server.place.port, sent);
    const code = answer.status < 400 || at.startsWith('/readyz') ? '' : refusalOf(answer).code;
    return { ...answer, code };
  };
  return { tool, servers, args, tokenFor, ask };
}

interface Told {
  readonly surplus: number;
  readonly held: { readonly drops: number };
}

test('a removed server drops its files, and gateways work as far as granted', slow, async () => {
  const { tool, servers, args, tokenFor, ask } = await keyedCluster();
  const [a, , , removed, gateway, poor] = servers;
  if (!(a && removed && gateway && poor)) throw new Error('six servers');
  const write = (index: number) => ask(a, `/v1/notes/key-${index}`, `value ${index}`);
  await waitFor('the cluster to take writes', {
    ask: () => write(0),
    until: ({ status }) => status === 204,
  });
  for (let index = 1; index < 40; index += 1) expect((await write(index)).status).toBe(204);

  await removed.kill();
  await tool.json(['remove', 'notes', `${removed.address}/sd4`]);
  await tool.json('commit notes -m removed');
  await tool.json('rollout notes --skip-down');
  // The removed server lacks these records, and has to be shown that the others have them.
  for (let index = 30; index < 60; index += 1) expect((await write(index)).status).toBe(204);
  // The role peer alone is not enough where the ring names keys: the others take no record.
  await removed.start(args);
  const ringThere = async (): Promise<Told> => {
    const { status, bytes } = await ask(removed, '/v1/status');
    if (status !== 200) return { surplus: -1, held: { drops: 0 } };
    return (JSON.parse(bytes.toString()) as { rings: [Told] }).rings[0];
  };
  await waitFor('it to hold its drops', { ask: ringThere, until: ({ held }) => held.drops > 0 });
  // An operator who only scrapes metrics sees the held files too.
  const scraped = (await ask(removed, '/metrics')).bytes.toString();
  expect(scraped).toMatch(/^ringwright_unnamed_files\{ring="notes"\} [1-9]/m);
  expect(scraped).toContain('ringwright_unprotected{ring="notes",lacks="trust"} 0\n');
  const confirm = `trash notes confirm --to ${removed.address} --yes`;
  const refused = await tool.run(confirm);
  expect([refused.exit, `${refused.stdout}${refused.stderr}`]).toEqual([
    5,
    expect.stringContaining('they accept no records from it; start it with --token-file'),
  ]);
  expect(refused.stdout).toMatch(/^0 files may be dropped$/m);
  await removed.kill();
  await removed.start(await tokenFor('removed', '--write', 'notes'));
  // The other servers now answer it as far as its token allows.
  await waitFor('its word to count', {
    ask: () => tool.run(confirm),
    until: ({ exit, stdout }) => exit === 0 && stdout.includes('may be dropped'),
  });
  const given = { ask: ringThere, until: ({ surplus }: Told) => surplus === 0 };
  await waitFor('it to have given its files up', given);

  // A gateway needs more permissions, because it answers requests with records.
  const granted = await tokenFor('gateway', '--read', 'notes', '--write', 'notes');
  await gateway.start(granted);
  await poor.start(args);
  // The server still waits for its access document, but reports its name.
  const wrong = await tool.run(['add', 'notes', poor.text.replace('sd6', 'sdx'), '1', '--ask-key']);
  expect([wrong.exit, wrong.stderr]).toEqual([5, expect.stringContaining('was started as sd6')]);
  const right = await tool.run(['add', 'notes', poor.text, '1', '--ask-key']);
  expect(right).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('1 new server answered'),
  });
  expect(right.stdout).not.toContain('token');
  await tool.json('unstage notes');
  const pushed = await tool.json(['push', 'notes', '--to', gateway.address]);
  expect(pushed).toMatchObject({ ready: true, unheard: [] });
  // The server has the ring but cannot answer for it: the push says so, and what to type.
  const useless = await tool.run(['push', 'notes', '--to', poor.address]);
  expect([useless.exit, useless.stdout]).toEqual([
    0,
    expect.stringContaining(`${poor.address} has notes but cannot serve it`),
  ]);
  expect(useless.stdout).toMatch(/Next: .*access grant NAME --peer --read notes --write notes/);
  const readyAt = (server: ServerUnderTest) => ask(server, '/readyz?ring=notes');
  expect((await readyAt(gateway)).status).toBe(200);
  const { status, bytes } = await readyAt(poor);
  expect([status, bytes.toString()]).toEqual([503, expect.stringContaining('CALLER_UNPROVEN')]);
  expect((await ask(gateway, '/v1/notes/through', 'put')).status).toBe(204);
  expect((await ask(gateway, '/v1/notes/key-7')).bytes.toString()).toBe('value 7');
  expect((await ask(gateway, '/v1/_keys/notes')).status).toBe(200);
  expect(await ask(poor, '/v1/notes/key-7')).toMatchObject({ code: 'NOT_ENOUGH_REPLICAS' });
});
