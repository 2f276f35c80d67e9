// Real servers with an access document, and the real tool: which callers are accepted, and when.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect } from '@ringwright/client/connect';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { commands } from '../../tools/ring-builder/command-groups.ts';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type RingBuilder, ringBuilderIn } from '../support/ring-builder-program.ts';
import { ServerUnderTest, serverProgram } from '../support/server-under-test.ts';

/** Test options: about forty commands and three servers need the time. */
const slow = { timeout: 180_000 };

interface Secured {
  readonly folder: string;
  readonly tool: RingBuilder;
  readonly servers: readonly ServerUnderTest[];
  readonly args: readonly string[];
  readonly redisPort: number;
  /** Grants a new token and returns its text. */
  readonly grant: (name: string, ...grants: string[]) => Promise<string>;
}

async function securedCluster(): Promise<Secured> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-access-'));
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true }));
  const token = path.join(folder, 'ada.token');
  const environment = {
    RING_BUILDER_KEYS: path.join(folder, 'keys'),
    RING_BUILDER_PASSPHRASE: 'correct horse',
    RING_BUILDER_TOKEN_FILE: token,
  };
  const first = await ringBuilderIn(folder, { ...environment, RING_BUILDER_TOKEN_FILE: '' });
  await first.json('key generate ada');
  const ofPeers = path.join(folder, 'peer.token');
  await first.json(`access grant servers --peer --out ${ofPeers}`);
  await first.json(`access grant ada --operator --metrics --out ${token}`);
  const tool = await ringBuilderIn(folder, environment);
  const [redisPort = 0, ...ports] = await freePorts(4);
  const trust = path.join(folder, 'rings', 'trust.json');
  const args = ['--trust', trust, '--token-file', ofPeers];
  const servers = ports.map((port, index) => {
    const device = `sd${index + 1}`;
    return new ServerUnderTest({ device, zone: index + 1, port, data: path.join(folder, device) });
  });
  onTestFinished(async () => {
    for (const server of servers) await server.kill();
  });
  for (const [index, server] of servers.entries()) {
    await server.start(index === 0 ? [...args, '--redis-port', String(redisPort)] : args);
  }
  await tool.json('create notes --partitions 8 --replicas 3 --min-part-hours 0');
  await tool.json(['add', 'notes', ...servers.flatMap(({ text }) => [text, '1'])]);
  await tool.json('commit notes -m first');
  await tool.json('push notes');
  const grant = async (name: string, ...grants: string[]): Promise<string> =>
    (await tool.json<{ token: string }>(['access', 'grant', name, ...grants])).token;
  return { folder, tool, servers, args, redisPort, grant };
}

/** Runs `ring-server inspect` as in a shell with this environment. */
function inspect(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, RING_BUILDER_TOKEN_FILE: '', ...environment };
  return new Promise<{ exit: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [serverProgram, 'inspect', ...args], { env }, (error, ...told) => {
      resolve({ exit: Number(error?.code ?? 0), stdout: told[0], stderr: told[1] });
    });
  });
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function codeAt(
  port: number,
  token: string | null,
  request: { method?: 'GET' | 'PUT'; path: string; body?: string },
): Promise<string> {
  const answer = await askServer(port, { ...request, ...(token !== null && bearer(token)) });
  return answer.status < 400 ? String(answer.status) : refusalOf(answer).code;
}

/** Redis commands that a connection may send before it has authenticated. */
const beforeAuth = ['auth', 'hello', 'quit'];
/** Redis commands that concern only the server and the connection: any valid token will do. */
const aboutNoKey = [
  ...['client', 'command', 'config', 'discard', 'echo', 'exec', 'flushall', 'flushdb', 'info'],
  ...['multi', 'ping', 'ringwright.consistency', 'select', 'watch'],
];

type Saying = (...words: string[]) => Promise<string>;

/** Returns the commands known to the server that are not refused in these words. */
async function passing(knowing: Redis, say: Saying, refusal: RegExp): Promise<string[]> {
  const passed: string[] = [];
  const described = (await knowing.call('COMMAND')) as [name: string, arity: number][];
  for (const [name, arity] of described) {
    if (beforeAuth.includes(name)) continue;
    const said = await say(name, ...Array<string>(Math.abs(arity) - 1).fill('1'));
    if (!refusal.test(said)) passed.push(name);
  }
  return passed.sort();
}

const saidBy = (caller: Redis): Saying => {
  return (name = '', ...words) =>
    caller.call(name, ...words).then(
      () => 'answered',
      ({ message }: Error) => message,
    );
};

/** Uses a bare socket, since a Redis client closes when it is refused. A refusal is one line. */
function nobodyAt(port: number): Saying {
  const socket = net.connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return async (...words) => {
    socket.write(`${words.join(' ')}\r\n`);
    return String((await once(socket, 'data'))[0]).slice(1);
  };
}

interface Listed {
  readonly tokens: readonly { readonly token: string; readonly usedMs: number | null }[];
  readonly silent: readonly string[];
}

test('callers can do exactly what their tokens grant, until these are revoked', slow, async () => {
  const { folder, tool, servers, args, redisPort, grant } = await securedCluster();
  const [a, b, c] = servers.map(({ place }) => place.port);
  if (a === undefined || b === undefined || c === undefined) throw new Error('three servers');
  const oldDocument = await fs.readFile(path.join(folder, 'rings', 'access.json'));
  const app = await grant('app', '--read', 'notes', '--write', 'notes/shop:');
  const other = await grant('other', '--read', 'elsewhere', '--write', 'elsewhere');

  // HTTP: no token, a wrong secret, another keyspace, a key one byte outside the granted prefix.
  const put = (key: string) => ({ method: 'PUT' as const, path: `/v1/notes/${key}`, body: 'x' });
  const get = { path: '/v1/notes/shop:1' };
  expect(await codeAt(a, null, get)).toBe('TOKEN_MISSING');
  expect(await codeAt(a, `${app.slice(0, -1)}A`, get)).toMatch(/TOKEN_REFUSED|KEY_UNKNOWN/);
  expect(await codeAt(a, `x${app}`, get)).toBe('TOKEN_REFUSED');
  expect(await codeAt(a, other, get)).toBe('PERMISSION_MISSING');
  expect(await codeAt(a, app, put('shop:1'))).toBe('204');
  expect(await codeAt(b, app, put('shop9'))).toBe('PERMISSION_MISSING');
  expect(await codeAt(c, app, get)).toBe('200');
  expect(await codeAt(c, app, { path: '/v1/status' })).toBe('PERMISSION_MISSING');
  const nosuch = await askServer(a, { path: '/readyz?ring=nosuch' });
  expect([nosuch.status, nosuch.bytes.toString().trim()]).toEqual([503, '{"ready":false}']);
  const stranger = await askServer(a, { path: '/readyz' });
  expect(JSON.parse(stranger.bytes.toString())).toEqual({ ready: true });
  const items = {
    items: [
      { op: 'get', key: 'shop:1' },
      { op: 'put', key: 'shop', value: 'x' },
    ],
  };
  const batch = await askServer(b, {
    method: 'POST',
    path: '/v1/_batch/notes',
    body: JSON.stringify(items),
    headers: { authorization: `Bearer ${app}`, 'content-type': 'application/json' },
  });
  expect(JSON.parse(batch.bytes.toString())).toMatchObject({
    items: [{ status: 200 }, { status: 403, error: { code: 'PERMISSION_MISSING' } }],
  });

  // Inspecting the data of a running server requires the operator role.
  const { data } = servers[0]!.place;
  expect(await inspect([data])).toMatchObject({
    exit: 5,
    stderr: expect.stringMatching(/TOKEN_MISSING.*\n.*--token-file/),
  });
  const operator = path.join(folder, 'ada.token');
  const shown = { exit: 0, stdout: expect.stringContaining('notes') };
  expect(await inspect([data, '--token-file', operator])).toMatchObject(shown);
  const byEnvironment = { RING_BUILDER_TOKEN_FILE: operator };
  expect(await inspect([data, '--json'], byEnvironment)).toMatchObject(shown);

  // The client package, and Redis.
  const addresses = servers.map(({ address }) => address);
  await expect(connect(addresses, { keyspace: 'notes' })).rejects.toMatchObject({
    code: 'TOKEN_MISSING',
  });
  await using client = await connect(addresses, { keyspace: 'notes', token: app });
  await client.put('shop:2', 'two');
  await expect(client.put('sho', 'x')).rejects.toMatchObject({ code: 'PERMISSION_MISSING' });
  const [id = '', secret = ''] = app.split('.');
  const redis = new Redis({ port: redisPort, username: id, password: secret, lazyConnect: true });
  onTestFinished(() => redis.disconnect());
  expect(await redis.get('shop:2')).toBe('two');
  await expect(redis.set('sho', 'x')).rejects.toThrow(/^NOPERM/);
  const nobody = new Redis({ port: redisPort, retryStrategy: () => null, enableReadyCheck: false });
  onTestFinished(() => nobody.disconnect());
  nobody.on('error', () => undefined);
  await expect(nobody.get('shop:2')).rejects.toThrow(/^NOAUTH/);
  const [otherId = '', otherSecret = ''] = other.split('.');
  const elsewhere = new Redis({ port: redisPort, username: otherId, password: otherSecret });
  onTestFinished(() => elsewhere.disconnect());
  expect(await passing(redis, nobodyAt(redisPort), /^NOAUTH/)).toEqual([]);
  expect(await passing(redis, saidBy(elsewhere), /^NOPERM/)).toEqual(aboutNoKey);
  await expect(redis.auth(id, 'x'.repeat(43))).rejects.toThrow(/^WRONGPASS/);
  await expect(redis.get('shop:2'), 'a wrong secret forgets the right one').rejects.toThrow();
  const password = `${id}.${secret}`;
  await redis.call('HELLO', '3', 'AUTH', 'default', password);
  await redis.call('HELLO', '2', 'AUTH', id, secret);
  await redis.auth(password);
  await redis.auth(id, secret);

  // Every command that queries servers, without a token and with one for another keyspace.
  const typed: Readonly<Record<string, string>> = {
    push: 'push notes',
    rollout: 'rollout notes --yes',
    moves: 'moves notes rate 1MB',
    reconcile: 'reconcile notes',
    trash: 'trash notes list',
    health: 'health',
    servers: 'servers notes',
    settle: 'settle notes -m why --yes',
    splits: 'splits notes',
    'archive-data': `archive-data notes --to ${folder}/archive`,
    'restore-data': `restore-data notes --from ${folder}/before --yes`,
  };
  // A signed document is its own credential.
  const asking = commands.filter(({ needs }) => !['folder', 'signature'].includes(needs));
  expect(Object.keys(typed).sort()).toEqual(asking.map(({ name }) => name).sort());
  const environment = { RING_BUILDER_TOKEN_FILE: '', RING_BUILDER_TOKEN: app };
  const asApp = await ringBuilderIn(folder, environment);
  await asApp.json(`archive-data notes --to ${folder}/before`);
  for (const token of ['', other]) {
    const asOther = await ringBuilderIn(folder, { ...environment, RING_BUILDER_TOKEN: token });
    for (const [name, command] of Object.entries(typed)) {
      const { exit, stdout, stderr } = await asOther.run(`${command} --json`);
      expect([name, exit], stderr).not.toEqual([name, 0]);
      expect(`${stdout}${stderr}`, name).toMatch(
        token === ''
          ? /TOKEN_MISSING|needs a token/
          : /PERMISSION_MISSING|needs (operator|metrics)/,
      );
    }
  }

  const { exit, stderr } = await tool.run('reconcile notes --json');
  expect(exit, stderr).toBe(0);

  // When each token was last presented, to any server. Servers that do not report it are named.
  await grant('nobody', '--read', 'notes');
  const listed = await tool.json<Listed>('access list');
  const used = listed.tokens.filter(({ usedMs }) => usedMs !== null).map(({ token }) => token);
  expect([used, listed.silent]).toEqual([['ada', 'app', 'other', 'servers'], []]);
  expect(listed.tokens.find(({ token }) => token === 'nobody')).toMatchObject({ usedMs: null });
  const untold = await asApp.json<Listed>('access list');
  expect(untold.tokens.map(({ usedMs }) => usedMs)).toEqual(untold.tokens.map(() => null));
  expect(untold.silent.join()).toMatch(/^(127\.0\.0\.1:\d+: PERMISSION_MISSING.*){3}$/);

  // Revoked on every server when the command ends, also for open connections.
  const revoked = await tool.json<{ servers: { outcome: string }[] }>('access revoke app');
  expect(revoked.servers.map(({ outcome }) => outcome)).toEqual(Array(3).fill('accepted'));
  for (const port of [a, b, c]) expect(await codeAt(port, app, get)).toBe('TOKEN_REFUSED');
  await expect(client.get('shop:2')).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  await expect(redis.get('shop:2')).rejects.toThrow(/^WRONGPASS/);

  // `access log` collects what every server recorded of this.
  const noted = await tool.json<{ lines: { kind: string; who: string; what: string }[] }>(
    'access log',
  );
  const said = noted.lines.map(({ kind, who, what }) => `${kind} ${who} ${what}`).join('\n');
  expect(said).toMatch(/access .*revoke app/);
  expect(said).toMatch(/refused nobody at .*TOKEN_MISSING/);
  expect(said).toMatch(/refused app at .*PERMISSION_MISSING: needs write this key of notes/);
  expect(said).toMatch(/ring-offer ada at .*keyspace notes/);

  // An old document is pushed again; then one server is down, and one wiped, at a revocation.
  const present = await fs.readFile(path.join(folder, 'rings', 'access.json'));
  await fs.writeFile(path.join(folder, 'rings', 'access.json'), oldDocument);
  const replayed = await tool.answer<{ servers: { code?: string }[] }>('access push');
  expect(replayed.document.servers.map(({ code }) => code)).toEqual(Array(3).fill('ACCESS_OLDER'));
  // Nor is anything granted on top of it: what was revoked since would come back by and by.
  for (const change of ['grant late --read notes', 'revoke app', 'grant late --read notes']) {
    const behind = await tool.run(`access ${change} --json`);
    expect(behind.stderr, change).toContain('ACCESS_OLDER');
  }
  expect(await fs.readFile(path.join(folder, 'rings', 'access.json'))).toEqual(oldDocument);
  await fs.writeFile(path.join(folder, 'rings', 'access.json'), present);
  const [, sleeper, wiped] = servers;
  if (sleeper === undefined || wiped === undefined) throw new Error('three servers');
  await sleeper.kill();
  await wiped.kill();
  await fs.rm(wiped.place.data, { recursive: true });
  const late = await tool.answer<{ exit: number }>('access revoke other');
  expect(late.exit).toBe(4);
  await sleeper.start(args);
  await wiped.start(args);
  for (const server of [sleeper, wiped]) {
    await waitFor(`${server.place.device} to know of the last revocation`, {
      ask: () => codeAt(server.place.port, other, { path: '/v1/rings/notes' }),
      until: (code) => code === 'TOKEN_REFUSED',
    });
    expect(server.logText()).toContain('"msg":"access document in force"');
  }
});
