// Tests the certificates that the tool makes against TLS itself. Each step of a rotation is tried
// with what clients and servers have at that moment, including those that lag by one step.

import { once } from 'node:events';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { proveServer } from '@ringwright/node/link/prove-server';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

async function keeper(): Promise<{ tool: RingBuilder; keys: string; read: Reading }> {
  const tool = await ringBuilderIn();
  const home = await mkdtemp(join(tmpdir(), 'ring-builder-certs-'));
  await writeFile(join(home, 'passphrase'), 'secret of the authority\n', { mode: 0o600 });
  const keys = `--key-folder ${join(home, 'keys')} --passphrase-file ${join(home, 'passphrase')}`;
  const read: Reading = (name) => readFile(join(tool.folder, 'certs', `${name}.pem`), 'utf8');
  return { tool, keys, read };
}

interface Listed {
  readonly name: string;
  readonly inRing: boolean | null;
}

type Reading = (name: string) => Promise<string>;

/** Returns `proved`, or why a client that trusts `ca` refuses a server with the bundle. */
async function judged(bundle: string, ca: string): Promise<string> {
  const server = createServer({ key: bundle, cert: bundle, minVersion: 'TLSv1.3' });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const attempt = { proof: { by: 'authority', ca }, identity: null, timeoutMs: 10_000 } as const;
  try {
    const { socket } = await proveServer(`127.0.0.1:${port}`, attempt);
    socket.destroy();
    return 'proved';
  } catch (error) {
    return (error as Error).message.replace(/^127.0.0.1:\d+ /, '');
  } finally {
    server.close();
  }
}

test('bundles of an authority prove their own servers and no others', async () => {
  const { tool, keys, read } = await keeper();
  const first = await tool.json(`certs init 127.0.0.1 10.0.0.2 ${keys}`);
  expect(first).toMatchObject({ changed: true, bundles: { length: 2 } });
  expect(await tool.json(`certs init 127.0.0.1 10.0.0.2 ${keys}`)).toMatchObject({
    changed: false,
  });
  const { mode } = await stat(join(tool.folder, 'certs', '127.0.0.1.pem'));
  expect(mode & 0o777).toBe(0o600);
  const ca = await read('authority');
  expect(ca).not.toContain('PRIVATE');
  expect(await judged(await read('127.0.0.1'), ca)).toBe('proved');
  expect(await judged(await read('10.0.0.2'), ca)).toMatch(
    /not have the expected certificate: it is for other addresses; got one for .*10\.0\.0\.2 by CN=authority/,
  );
  const shown = (await tool.run(`key list ${keys}`)).stdout;
  expect(shown).toMatch(/^authority-1-\w{8} +\w{12} +TLS certificates: certs list +here$/m);
  await tool.json(`key generate ${keys}`);
  await tool.json(`key generate spare --role ring ${keys}`);
  expect(await tool.json(`key list ${keys}`)).toMatchObject({
    keys: expect.arrayContaining([
      expect.objectContaining({ name: expect.stringMatching(/^authority-1-/), authority: true }),
      expect.objectContaining({ name: 'spare', authority: false }),
    ]),
  });
  const other = await keeper();
  await other.tool.json(`certs init 127.0.0.1 ${other.keys}`);
  expect(await judged(await other.read('127.0.0.1'), ca)).toMatch(
    /it was not issued by a trusted authority; got one for .*127\.0\.0\.1 by CN=authority-1-\w+, until /,
  );
  const leaf = `certs issue 127.0.0.1 db3.example --name db3 --days 7 ${keys}`;
  expect(await tool.json(leaf)).toMatchObject({ names: ['127.0.0.1', 'db3.example'] });
  const listed = await tool.run('certs list --json');
  expect(listed.exit).toBe(1);
  // The command that it names next is valid without any ring.
  expect((await other.tool.run('certs list')).stdout).toContain('Next: ring-builder health');
  expect(JSON.parse(listed.stdout)).toMatchObject({
    certificates: [
      { name: expect.stringMatching(/^authority-1-/), endsSoon: false },
      { name: '10.0.0.2', endsSoon: false },
      { name: '127.0.0.1', endsSoon: false },
      { name: 'db3', endsSoon: true, issuer: expect.stringMatching(/^authority-1-/) },
    ],
  });
});

test('certs list names bundles of servers in no ring and the command to remove them', async () => {
  const { tool, keys } = await keeper();
  const hosts = ['10.0.0.1', 'FD00:0:0::2', '10.0.0.3'];
  await tool.json(`certs init ${hosts.join(' ')} ${keys}`);
  await tool.json(`certs issue ada --role operator ${keys}`);
  await tool.json(`certs issue gate.example --name gate ${keys}`);
  const goneOf = async (): Promise<unknown> => {
    const { certificates } = await tool.json<{ certificates: Listed[] }>('certs list');
    return certificates.flatMap(({ name, inRing }) => (inRing === false ? [name] : []));
  };
  // Certificates are made before the rings, so without rings no bundle is surplus.
  expect(await goneOf()).toEqual([]);
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1 r1z2-[fd00::2]:6200/a 1');
  expect(await goneOf()).toEqual(['10.0.0.3']);
  await tool.json('commit cities -m first');
  await tool.json('add cities r1z3-10.9.9.9:6200R10.0.0.3:6300/a 1');
  expect(await goneOf()).toEqual([]);
  await tool.json('unstage cities');
  await tool.json('set-device cities d1 --ip 10.0.0.3');
  expect(await goneOf()).toEqual(['fd00-0-0--2']);
  const { stdout } = await tool.run('certs list');
  expect(stdout).toContain(
    `1 bundle is of servers that no ring of ${tool.folder}/rings names: fd00-0-0--2; ` +
      `if they are gone for good: rm ${tool.folder}/certs/fd00-0-0--2.pem`,
  );
  // A ring that cannot be read may name any of these servers.
  await writeFile(join(tool.folder, 'rings/cities/builder.json'), '{}');
  expect(await goneOf()).toEqual([]);
});

test('an authority is replaced in three steps that tolerate a lag of one step', async () => {
  const { tool, keys, read } = await keeper();
  await tool.json(`certs init 127.0.0.1 ${keys}`);
  const state = async (): Promise<readonly [string, string]> => [
    await read('127.0.0.1'),
    await read('authority'),
  ];
  const states = [await state()];
  const bare = await tool.run(`certs rotate ${keys}`);
  expect(bare.stderr).toContain('hint: ring-builder certs rotate 127.0.0.1');
  for (const step of [1, 2, 3]) {
    const command = `certs rotate authority --step ${step} ${keys}`;
    const skipped = `certs rotate authority --step ${(step % 3) + 1} ${keys}`;
    if (step < 3) expect((await tool.run(skipped)).exit).toBe(2);
    expect(await tool.json(command)).toMatchObject({ step, changed: true });
    expect(await tool.json(command)).toMatchObject({ step, changed: false });
    states.push(await state());
  }
  for (const [at, [bundle]] of states.entries()) {
    for (const [later, [, ca]] of states.entries()) {
      if (Math.abs(at - later) <= 1) expect(await judged(bundle, ca)).toBe('proved');
    }
  }
  const [[oldBundle]] = states as [readonly [string, string]];
  expect(await judged(oldBundle, (await state())[1])).toMatch(/not have the expected certificate/);
});

test('a temporary file of the authority is no bundle, and the next one removes it', async () => {
  const { tool, keys, read } = await keeper();
  await tool.json(`certs init 127.0.0.1 ${keys}`);
  const left = '.tmp-1-0a1b2c3d-authority';
  await writeFile(join(tool.folder, 'certs', `${left}.pem`), await read('authority'));
  const { stdout } = await tool.run('certs list');
  expect(stdout).not.toContain(left);
  for (const step of [1, 2, 3]) await tool.json(`certs rotate authority --step ${step} ${keys}`);
  const files = await readdir(join(tool.folder, 'certs'));
  expect(files.toSorted()).toEqual(['127.0.0.1.pem', 'authority.pem']);
});

test('an authority that has expired issues nothing until it is replaced', async () => {
  let nowMs = Date.parse('2026-11-21T00:00:00Z');
  const home = await mkdtemp(join(tmpdir(), 'ring-builder-certs-'));
  const passphrase = () => Promise.resolve('secret of the authority');
  const keys = { folder: join(home, 'keys'), name: null, passphrase };
  const tool = await ringBuilderHere({ nowMs: () => nowMs, keys });
  await tool.json('certs init 10.0.0.1');
  const early = await tool.answer('certs rotate 10.0.0.1');
  expect(early.lines.join(), 'the authority outlives it').not.toContain('valid until');
  nowMs += 3_600 * 86_400_000;
  for (const command of ['certs rotate 10.0.0.1', 'certs issue 10.0.0.3']) {
    const late = await tool.answer(command);
    expect(late.lines.join()).toContain('valid until 2036-11-18, when the authority ends, and not');
  }
  nowMs += 51 * 86_400_000;
  for (const command of ['certs issue 10.0.0.2', 'certs rotate 10.0.0.1']) {
    expect(await tool.refusal(command)).toEqual({ exit: 2, code: 'CERTS_UNKNOWN' });
  }
  for (const step of [1, 2, 3]) await tool.json(`certs rotate authority --step ${step}`);
  await tool.json('certs issue 10.0.0.2');
  const { certificates } = await tool.json<{ certificates: { endsMs: number }[] }>('certs list');
  expect(certificates.length).toBe(4);
  for (const { endsMs } of certificates) expect(endsMs).toBeGreaterThan(nowMs);
});

test('client certificates go to their owners, and the authority to servers too', async () => {
  const home = await mkdtemp(join(tmpdir(), 'ring-builder-certs-'));
  const passphrase = () => Promise.resolve('secret of the authority');
  const keys = { folder: join(home, 'keys'), name: null, passphrase };
  const tool = await ringBuilderHere({ keys });
  await tool.json('certs init 10.0.0.1');
  await tool.json('certs issue ada --role operator');
  const { lines } = await tool.answer('certs rotate 10.0.0.1 ada');
  expect(lines[0]).toMatch(/10\.0\.0\.1\.pem: copy it to its server/);
  expect(lines[1]).toMatch(/ada\.pem: give it to its owner/);
  for (const step of [1, 2, 3]) {
    const text = await tool.text(`certs rotate authority --step ${step}`);
    expect(text).toContain(step === 2 ? 'client certificates to their owners' : '--client-ca');
  }
});

test('what was made while the clock was ahead is listed as not valid yet', async () => {
  let nowMs = Date.parse('2027-11-21T00:00:00Z');
  const home = await mkdtemp(join(tmpdir(), 'ring-builder-certs-'));
  const passphrase = () => Promise.resolve('secret of the authority');
  const keys = { folder: join(home, 'keys'), name: null, passphrase };
  const tool = await ringBuilderHere({ nowMs: () => nowMs, keys });
  await tool.json('certs init 10.0.0.1');
  nowMs = Date.parse('2026-11-21T00:00:00Z');
  const { exit, lines, next } = await tool.answer('certs list');
  expect(lines.join('\n')).toMatch(
    /10\.0\.0\.1 .* but not before 2027-11-20T23:00:00.000Z: rotate/,
  );
  expect([exit, next]).toEqual([1, 'ring-builder certs rotate authority --step 1']);
  expect(await tool.refusal('certs rotate 10.0.0.1')).toEqual({ exit: 2, code: 'CERTS_UNKNOWN' });
  for (const step of [1, 2, 3]) await tool.json(`certs rotate authority --step ${step}`);
  expect((await tool.answer('certs list')).exit ?? 0).toBe(0);
});

test('without certificates, certs list advises certs init with the ring servers', async () => {
  const tool = await ringBuilderHere();
  expect((await tool.answer('certs list')).next).toBe('ring-builder certs init 10.0.0.1');
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.7:6200/sdb 1 r1z1-10.0.0.8:6200/sdb 1');
  const { lines, next } = await tool.answer('certs list');
  expect(lines).toEqual([
    expect.stringMatching(/^no certificate is in .*certs: --certs DIR selects another folder$/),
  ]);
  expect(next).toBe('ring-builder certs init 10.0.0.7 10.0.0.8');
});

test('every host that a ring may name gets a bundle, under a file name', async () => {
  const { tool, keys } = await keeper();
  await tool.json(`certs init ::1 ::ffff:127.0.0.1 bücher.example. db_1 ${keys}`);
  const { certificates } = await tool.json<{ certificates: { name: string; names: string[] }[] }>(
    'certs list',
  );
  const named = certificates.flatMap(({ name, names }) => names.map((one) => [name, one]));
  expect(named).toEqual([
    ['0--1', '::1'],
    ['0--ffff-127.0.0.1', '::ffff:7f00:1'],
    ['db_1', 'db_1'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ]);
});
