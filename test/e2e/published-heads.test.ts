// Real servers follow a head in a real etcd: they load what is committed, without a push.
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificates, opensslHere } from '../support/certificates.ts';
import { etcdForFile, etcdHere, startEtcd } from '../support/etcd-cluster.ts';
import { ringBuilderIn, ringBuilderProgramIn } from '../support/ring-builder-program.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const etcd = etcdForFile();

test.skipIf(!etcdHere)(
  'a committed version is loaded, even while a member of etcd is dead',
  async () => {
    const builder = await ringBuilderIn();
    const [port = 0] = await freePorts(1);
    const data = join(builder.folder, 'data');
    const server = new ServerUnderTest({ device: 'd0', zone: 1, port, data });
    onTestFinished(() => server.kill());
    const store = `${etcd()?.url}/served`;
    await server.start(['--store', store]);
    const stores = ['a', 'b', 'c'].map((name) => join(builder.folder, name));
    for (const one of stores) await mkdir(one);
    const has = (version: number): Promise<unknown> =>
      waitFor(`version ${version} to be active`, {
        ask: async () => (await server.status()).rings[0]?.version,
        until: (active) => active === version,
      });

    const created = 'create notes --partitions 4 --replicas 1';
    await builder.json(`${created} --store ${store} --ring-stores ${stores.join(',')}`);
    await builder.json(`add notes ${server.text} 100`);
    await builder.json('commit notes -m first');
    await has(1);
    await etcd()?.kill(1);
    await builder.json('set-device notes d0 --meta rack-7');
    expect(await builder.json('commit notes -m meta')).toMatchObject({ version: 2 });
    await has(2);
    // A server that was down finds the newest head when it starts.
    await server.kill();
    await builder.json('set-device notes d0 --meta rack-8');
    await builder.json('commit notes -m meta');
    await server.start(['--store', store]);
    await has(3);
  },
  60_000,
);

test('an invalid store ends the server before it opens anything', async () => {
  const builder = await ringBuilderIn();
  const [port = 0] = await freePorts(1);
  const data = join(builder.folder, 'data');
  const server = new ServerUnderTest({ device: 'd0', zone: 1, port, data });
  server.spawn(['--store', 'etcd://nowhere']);
  expect(await server.exited()).toBe(2);
  expect(server.logText()).toContain('is not the address of a head store');
});

test.skipIf(!etcdHere || !opensslHere)(
  'over TLS, the paths of the certificates are remembered for this user, and no secret is stored',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringwright-heads-'));
    const builder = await ringBuilderProgramIn(folder, {
      options: [],
      environment: { HOME: folder },
    });
    const { ca, cert, key } = await makeCertificates(builder.folder);
    const secured = await startEtcd({ ca, cert, key });
    onTestFinished(() => secured.close());
    const [port = 0] = await freePorts(1);
    const data = join(builder.folder, 'data');
    const server = new ServerUnderTest({ device: 'd0', zone: 1, port, data });
    onTestFinished(() => server.kill());
    const opened = ['--store-ca', ca, '--store-cert', cert, '--store-key', key];
    await server.start(['--store', secured.url, ...opened]);
    const stores = join(builder.folder, 'stores');
    await mkdir(stores);
    const placed = ['--store', secured.url, '--ring-stores', stores];
    const create = ['create', 'notes', '--partitions', '4', '--replicas', '1'];
    await builder.json([...create, ...placed, '--store-ca', 'ca.pem', ...opened.slice(2)]);
    const file = join(builder.folder, 'rings', 'store.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      format: 1,
      url: secured.url,
      stores: [stores],
    });
    const home = join(builder.folder, '.config', 'ringwright', 'stores.json');
    expect(JSON.parse(await readFile(home, 'utf8'))).toMatchObject({
      opened: [{ url: secured.url, access: { ca, cert, key } }],
    });
    await builder.json(`add notes ${server.text} 100`);
    await builder.json('commit notes -m first');
    await waitFor('version 1 to be active', {
      ask: async () => (await server.status()).rings[0]?.version,
      until: (active) => active === 1,
    });
    const elsewhere = await builder.run(['status', 'notes', '--rings', 'other', ...placed]);
    expect(elsewhere.stderr).toMatch(/HEAD_STORE_UNREACHABLE/);
    const secret = await builder.run(['status', 'notes', '--store', 'etcds://ada:pencil@h:1']);
    expect([secret.exit, secret.stderr]).toEqual([2, expect.stringContaining('password-file')]);
  },
  60_000,
);
