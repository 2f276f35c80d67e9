// Tests two operators with separate folders and a shared head store: etcd if it is installed, else
// a directory.
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '@ringwright/node/free-ports';
import { expect, test } from 'vitest';
import { etcdForFile, etcdHere } from '../../../../test/support/etcd-cluster.ts';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

const etcd = etcdForFile();

const add = (zones: readonly number[]): string[] => [
  'add',
  'cities',
  ...zones.flatMap((zone) => [`r1z${zone}-10.0.0.${zone}:6200/sdb`, '100']),
];

async function twoOperators(): Promise<{ ada: RingBuilder; bob: RingBuilder; store: string }> {
  const root = await mkdtemp(join(tmpdir(), 'ringwright-stores-'));
  const stores = ['a', 'b', 'c'].map((name) => join(root, name));
  for (const store of stores) await mkdir(store);
  const store = etcdHere ? `${etcd()?.url}/operators` : `dir:${root}/heads`;
  const [ada, bob] = await Promise.all([ringBuilderIn(), ringBuilderIn()]);
  const created = 'create cities --partition-power 4 --replicas 2';
  await ada.json(`${created} --store ${store} --ring-stores ${stores.join(',')}`);
  await ada.json(add([1, 2, 3]));
  await ada.json(['commit', 'cities', '-m', 'first']);
  return { ada, bob, store };
}

test('the second operator gets the ring, stages on an old head and rebases', async () => {
  const { ada, bob, store } = await twoOperators();
  // One command with --store is enough: the folder remembers it.
  expect(await bob.json(`status cities --store ${store}`)).toMatchObject({ head: 1 });
  await bob.json(add([5]));
  const plan = await bob.json<{ digest: string }>('plan cities');
  await ada.json(add([4]));
  const joined = ['commit', 'cities', '-m', 'zone 4', '--override', 'a test'];
  expect(await ada.json(joined)).toMatchObject({ version: 2 });

  const late = ['commit', 'cities', '-m', 'zone 5', '--plan', plan.digest, '--json'];
  const refused = await bob.run(late);
  expect(refused.exit).toBe(3);
  expect(JSON.parse(refused.stderr)).toMatchObject({
    code: 'STAGED_ON_OLD_HEAD',
    details: { base: { version: 1 }, committed: 2 },
  });
  expect(await bob.json('rebase cities')).toMatchObject({ onto: { version: 2 }, changed: true });
  const copies = await Promise.all([ada, bob].map((one) => one.json('log cities')));
  expect(copies[0]).toEqual(copies[1]);
  for (const one of [ada, bob]) expect((await one.run('verify cities')).exit).toBe(0);
  const { stores } = await bob.json<{ stores: { state: string }[] }>('stores cities');
  expect(stores.map(({ state }) => state)).toEqual(['current', 'current', 'current']);
  const eve = await ringBuilderIn();
  const restore = `restore cities --from store --store ${store}`;
  expect(await eve.json(restore)).toMatchObject({ version: 2, changed: false });
  await rm(join(eve.folder, 'rings', 'cities'), { recursive: true });
  expect((await eve.run('list')).stdout).toMatch(/^Next: ring-builder status RING$/m);
  const other = await bob.run('status cities --store dir:/elsewhere');
  expect([other.exit, other.stderr]).toEqual([2, expect.stringContaining('are recorded in')]);
}, 60_000);

test('a store that another user wrote into the folder receives no password file', async () => {
  const sent: string[] = [];
  const theirs = createServer((request, response) => {
    void text(request).then((body) => {
      sent.push(body);
      response.writeHead(400).end('{}');
    });
  });
  theirs.listen(0, '127.0.0.1');
  await once(theirs, 'listening');
  const home = await mkdtemp(join(tmpdir(), 'ringwright-home-'));
  const secret = join(home, 'ada.key');
  await writeFile(secret, 'a private key\n', { mode: 0o600 });
  const ada = await ringBuilderIn(home, { RINGWRIGHT_STORE_PASSWORD_FILE: secret });
  const plain = await ringBuilderIn(home);
  await plain.json('create cities --partition-power 4 --replicas 2');
  const { port } = theirs.address() as AddressInfo;
  const url = `etcd://127.0.0.1:${port}`;
  const access = { user: 'ada', passwordFile: secret };
  const planted = JSON.stringify({ format: 1, url, stores: [], access });
  await writeFile(join(home, 'rings', 'store.json'), planted);
  await plain.run('status cities');
  const refused = await ada.run('status cities');
  expect(refused).toMatchObject({ exit: 2 });
  expect(refused.stderr).toContain(`names the store ${url}, which this user has not opened yet`);
  theirs.close();
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.join()).not.toContain('a private key');
});

test('without the store, an answer is from the copy, and a change fails once', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ringwright-away-'));
  const stores = join(root, 'a');
  await mkdir(stores);
  const ada = await ringBuilderIn();
  const created = 'create cities --partition-power 4 --replicas 2';
  await ada.json(`${created} --store dir:${root}/heads --ring-stores ${stores}`);
  const [port] = await freePorts(1);
  const away = JSON.stringify({ format: 1, url: `etcd://127.0.0.1:${port}`, stores: [stores] });
  await writeFile(join(ada.folder, 'rings', 'store.json'), `${away}\n`);
  const warning = 'warning HEAD_STORE_UNREACHABLE';
  const read = await ada.run('status cities');
  expect(read).toMatchObject({ exit: 0, stderr: expect.stringContaining(warning) });
  expect(read.stderr).toContain('this answer is from the copy');
  const unknown = await ada.run('status towns');
  expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringContaining(warning) });
  const write = await ada.run(add([1]));
  expect(write).toMatchObject({
    exit: 4,
    stderr: expect.stringMatching(/^error HEAD_STORE_UNREACHABLE/),
  });
});

test('ring stores that were forgotten are added by repeating the command with them', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ringwright-forgotten-'));
  const stores = join(root, 'a');
  await mkdir(stores);
  const ada = await ringBuilderIn();
  await ada.json(`create cities --partition-power 4 --replicas 2 --store dir:${root}/heads`);
  await ada.json(add([1, 2]));
  const commit = 'commit cities -m first';
  const { exit, stderr } = await ada.run(commit);
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: expect.stringContaining('hint: repeat the command with --ring-stores /srv/a/rings'),
  });
  const committed = await ada.json(`${commit} --ring-stores ${stores}`);
  expect(committed).toMatchObject({ version: 1, changed: true });
  const alone = await ringBuilderIn();
  const useless = await alone.run(`list --ring-stores ${stores}`);
  expect(useless.stderr).toContain('--ring-stores needs --store');
});
