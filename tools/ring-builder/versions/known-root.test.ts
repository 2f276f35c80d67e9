// Tests that a folder of rings whose root, heads or servers were replaced, without the operator's
// keys, gets neither the operator's token nor a signature; and what changes a known root.
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenText } from '@ringwright/access/token';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { payloadOf, signedDocument } from '@ringwright/ring/trust/signed-document';
import { parseTrustFile, printTrustFile } from '@ringwright/ring/trust/trust-chain';
import { expect, onTestFinished, test } from 'vitest';
import { testToken } from '../../../test/support/access.ts';
import { notePush } from '../../../test/support/note-push.ts';
import {
  type Ended,
  type RingBuilder,
  ringBuilderIn,
} from '../../../test/support/ring-builder-program.ts';
import { signedRoot, testKey } from '../../../test/support/signing.ts';

const token = tokenText(testToken('ada'));

/** A server that records whether it was contacted, and with which token. */
async function listener() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? 'no token');
    response.statusCode = 404;
    response.end('{}');
  });
  server.on('upgrade', ({ headers }, socket) => {
    seen.push(headers.authorization ?? 'no token');
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

interface Person {
  readonly tool: RingBuilder;
  readonly keys: string;
  readonly rings: string;
}

/** A person with a folder of rings and keys of their own, and an operator's token. */
async function person(environment: Readonly<Record<string, string>> = {}): Promise<Person> {
  const folder = await mkdtemp(join(tmpdir(), 'known-root-'));
  const keys = join(folder, 'keys');
  const tool = await ringBuilderIn(folder, {
    RING_BUILDER_KEYS: keys,
    RING_BUILDER_PASSPHRASE: 'correct horse',
    RING_BUILDER_TOKEN: token,
    ...environment,
  });
  return { tool, keys, rings: join(folder, 'rings') };
}

/** The same with a ring whose only server listens at the port, as if it had been pushed there. */
async function withRing(port: number, isSigned = true): Promise<Person> {
  const one = await person();
  await one.tool.json('create notes --partitions 4 --replicas 1');
  if (isSigned) await one.tool.json('key generate ada');
  await one.tool.json(`add notes r1z1-127.0.0.1:${port}/sd1 1`);
  await one.tool.json('commit notes -m first');
  await notePush(one.tool.folder, 'notes');
  return one;
}

const failure = ({ exit, stderr }: Ended) => {
  const error = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly details: object;
  };
  return { exit, ...error };
};

const rootOf = async ({ tool }: Person): Promise<string> =>
  (await tool.json<{ id: string }>('key trust')).id;

/** Replaces everything in the folder of rings. */
async function replaceRings({ rings }: Person, by: Person): Promise<void> {
  await rm(rings, { recursive: true });
  await cp(by.rings, rings, { recursive: true });
}

const contacting = [
  'health',
  'servers notes',
  'push notes',
  'rollout notes',
  'moves notes list',
  'reconcile notes',
  'splits notes',
  'trash notes list',
  'archive-data notes --to /nowhere',
  'restore-data notes --from /nowhere',
  'settle notes -m x --yes',
  'access log',
  'access grant bob --operator',
  'beacon notes',
  'commit notes -m x',
  'sign notes',
  'key trust --days 9',
  'key generate eve',
  'restore notes --from 127.0.0.1:1 --replace',
];

test('a folder with another root is refused, until its id is accepted', async () => {
  const [ours, theirs] = [await listener(), await listener()];
  const ada = await withRing(ours.port);
  const eve = await withRing(theirs.port);
  const [known, found] = [await rootOf(ada), await rootOf(eve)];
  await replaceRings(ada, eve);
  theirs.seen.length = 0;
  for (const command of contacting) {
    const refused = failure(await ada.tool.run(`${command} --json`));
    expect(refused, command).toMatchObject({
      exit: 5,
      code: 'TRUST_FORK',
      message: expect.stringMatching(new RegExp(`${found}.*${known}`)),
      hint: expect.stringContaining(`key trust --accept ${found}`),
      details: { version: 1, id: found, known: { version: 1, id: known } },
    });
  }
  expect(theirs.seen).toEqual([]);
  expect((await ada.tool.run('show notes')).exit).toBe(0);
  expect((await ada.tool.run('verify notes')).stdout).toContain(`does not contain root ${known}`);
  expect(failure(await ada.tool.run(`key trust --accept ${known} --json`)).code).toBe('TRUST_FORK');
  expect(failure(await ada.tool.run('health --json')).code).toBe('TRUST_FORK');

  const accepted = await ada.tool.json(`key trust --accept ${found}`);
  expect(accepted).toMatchObject({ accepted: found, changed: true });
  await ada.tool.run('health');
  expect(theirs.seen).toContain(`Bearer ${token}`);
});

test('rings without the trust.json that is known are refused, until that is accepted', async () => {
  const [ours, theirs] = [await listener(), await listener()];
  const ada = await withRing(ours.port);
  const known = await rootOf(ada);
  await replaceRings(ada, await withRing(theirs.port, false));
  theirs.seen.length = 0;
  for (const command of ['health', 'servers notes', 'push notes', 'key generate ada']) {
    expect(failure(await ada.tool.run(`${command} --json`)), command).toMatchObject({
      exit: 2,
      code: 'TRUST_UNKNOWN',
      message: expect.stringContaining(known),
      hint: expect.stringContaining('key trust --accept none'),
    });
  }
  expect(theirs.seen).toEqual([]);
  expect(await ada.tool.json('key trust --accept none')).toMatchObject({ accepted: null });
  await ada.tool.run('health');
  expect(theirs.seen).toContain(`Bearer ${token}`);
});

test.each([
  ['unsigned', false],
  ['signed with other keys', true],
])('a head beside the known trust.json that is %s is refused', async (_, isSigned) => {
  const [ours, theirs] = [await listener(), await listener()];
  const ada = await withRing(ours.port);
  const eve = await withRing(theirs.port, isSigned);
  await rm(join(ada.rings, 'notes'), { recursive: true });
  await cp(join(eve.rings, 'notes'), join(ada.rings, 'notes'), { recursive: true });
  theirs.seen.length = 0;
  for (const command of ['health', 'servers notes', 'commit notes -m x', 'sign notes']) {
    const refused = failure(await ada.tool.run(`${command} --json`));
    expect(refused, command).toMatchObject({ exit: 5, code: 'SIGNATURES_MISSING' });
  }
  expect(theirs.seen).toEqual([]);
});

test('a server that only a staged change or an unsigned ring names gets no token', async () => {
  const [ours, theirs] = [await listener(), await listener()];
  const ada = await withRing(ours.port);
  await ada.tool.json('commit notes -m nothing');
  await ada.tool.run(`add notes r1z1-127.0.0.1:${theirs.port}/sd2 1`);
  [ours.seen.length, theirs.seen.length] = [0, 0];
  const planned = await ada.tool.run('plan notes');
  expect(planned.stderr).toContain(`the token was not sent to 127.0.0.1:${theirs.port}`);
  expect(new Set(theirs.seen)).toEqual(new Set(['no token']));
  expect(ours.seen).toContain(`Bearer ${token}`);

  const other = await withRing(theirs.port, false);
  await cp(join(other.rings, 'notes'), join(ada.rings, 'zzz'), { recursive: true });
  theirs.seen.length = 0;
  await ada.tool.run('access log');
  expect(new Set(theirs.seen)).not.toContain(`Bearer ${token}`);
});

test('a root that follows the known one is known; a copy behind it is refused', async () => {
  const { port } = await listener();
  const ada = await withRing(port);
  const [first, other] = [await rootOf(ada), join(ada.tool.folder, 'other')];
  await cp(ada.rings, other, { recursive: true });
  expect((await ada.tool.run(`status notes --rings ${other}`)).stderr).toBe('');
  await ada.tool.json('key trust --days 9');
  const second = await rootOf(ada);
  const status = await ada.tool.run('status notes');
  expect([status.exit, status.stderr]).toEqual([0, '']);
  const behind = failure(await ada.tool.run(`status notes --rings ${other} --json`));
  expect(behind).toMatchObject({
    exit: 5,
    code: 'TRUST_OLDER',
    message: expect.stringMatching(`root 1 \\(${first}\\), but root 2 \\(${second}\\) is known`),
    details: { version: 1, id: first, known: { version: 2, id: second } },
  });
  await cp(join(ada.rings, 'trust.json'), join(other, 'trust.json'));
  expect((await ada.tool.run(`status notes --rings ${other}`)).exit).toBe(0);
});

test('on another machine a copied folder is trusted at first sight, and only then', async () => {
  const [ours, theirs] = [await listener(), await listener()];
  const ada = await withRing(ours.port);
  const bob = await person();
  await cp(ada.rings, bob.rings, { recursive: true });
  const first = await bob.tool.run('status notes');
  expect(first.stderr).toContain(`root 1 (${await rootOf(ada)})`);
  expect((await bob.tool.run('status notes')).stderr).toBe('');
  const moved = join(bob.tool.folder, 'moved');
  await cp(bob.rings, moved, { recursive: true });
  expect((await bob.tool.run(`status notes --rings ${moved}`)).stderr).toBe('');
  await replaceRings(bob, await withRing(theirs.port));
  expect(failure(await bob.tool.run('status notes --json')).code).toBe('TRUST_FORK');
});

test('RINGWRIGHT_TRUST counts instead of what is known, and nothing is remembered', async () => {
  const { port } = await listener();
  const ada = await withRing(port);
  const id = await rootOf(ada);
  const machine = async (pin: string): Promise<Person> => {
    const one = await person({ RINGWRIGHT_TRUST: pin });
    await cp(ada.rings, one.rings, { recursive: true });
    return one;
  };
  const good = await machine(id);
  expect(await good.tool.run('status notes')).toMatchObject({ exit: 0, stderr: '' });
  await expect(readFile(join(good.keys, 'known-roots.json'))).rejects.toThrow('ENOENT');
  const wrong = '0'.repeat(64);
  const refused = failure(await (await machine(wrong)).tool.run('status notes --json'));
  expect(refused).toMatchObject({
    code: 'TRUST_FORK',
    message: expect.stringMatching(new RegExp(`${id}.*${wrong}`)),
    hint: expect.stringContaining(`RINGWRIGHT_TRUST=${id}`),
  });
  const empty = await machine('');
  expect(failure(await empty.tool.run('status notes --json')).code).toBe('USAGE');
  await rm(join(good.rings, 'trust.json'));
  expect(failure(await good.tool.run('status notes --json')).code).toBe('TRUST_UNKNOWN');
  await replaceRings(good, await withRing(port, false));
  await cp(join(ada.rings, 'trust.json'), join(good.rings, 'trust.json'));
  expect(failure(await good.tool.run('status notes --json')).code).toBe('SIGNATURES_MISSING');
});

test('a forged root before the known one is refused: it would vouch for old heads', async () => {
  const { port } = await listener();
  const ada = await withRing(port);
  await ada.tool.json('key trust --days 9');
  await ada.tool.json('status notes');
  const path = join(ada.rings, 'trust.json');
  const [, second] = parseTrustFile(await readFile(path));
  if (second === undefined) throw new Error('there is no second root');
  const eve = testKey('mallory');
  const forged = signedRoot({ root: [eve], rootThreshold: 1, cluster: 'default' }, [eve]);
  const payload = payloadOf(second);
  const added = [...second.signatures, signPayload(eve.privateKey, payload)];
  await writeFile(path, printTrustFile([forged, signedDocument(payload, added)]));
  expect(failure(await ada.tool.run('status notes --json'))).toMatchObject({ code: 'TRUST_FORK' });
});

test('where no root can be remembered, a command warns once and goes on', async () => {
  const { port } = await listener();
  const ada = await withRing(port);
  const file = join(ada.tool.folder, 'file');
  await writeFile(file, '');
  const { exit, stderr } = await ada.tool.run(`status notes --key-folder ${join(file, 'keys')}`);
  expect(exit).toBe(0);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^warning: .*cannot remember .*RINGWRIGHT_TRUST/),
  ]);
  const accept = `key trust --accept ${await rootOf(ada)} --key-folder ${join(file, 'keys')}`;
  expect((await ada.tool.run(accept)).exit).not.toBe(0);
});

test('a new folder at the path of a removed one has its own root, or none', async () => {
  const { tool, keys, rings } = await person();
  const create = `create notes --partitions 4 --replicas 1 --key-folder ${keys}`;
  for (const more of ['', '', ' --unsigned', '']) {
    await tool.json(create + more);
    const { exit, stderr } = await tool.run('status notes');
    expect([exit, stderr], more).toEqual([0, '']);
    await rm(rings, { recursive: true });
  }
});
