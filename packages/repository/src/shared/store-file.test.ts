// Attack: store.json is the same for all operators and contains no credentials. Credentials that
// someone adds to it are ignored.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { storeAccessOf } from '@ringwright/head-store/store-access';
import { beforeEach, expect, test, vi } from 'vitest';
import { readStoreFile, useStore } from './store-file.ts';

beforeEach(async () => {
  vi.stubEnv('HOME', await mkdtemp(join(tmpdir(), 'ringwright-home-')));
});

const stores = ['/srv/a', '/srv/b'];
const url = 'etcds://10.0.0.1:2379,10.0.0.2:2379/rings';

test('options take precedence over the environment, and paths become absolute', () => {
  const env = {
    RINGWRIGHT_STORE_CA: '/etc/ca.pem',
    RINGWRIGHT_STORE_KEY: '/etc/key.pem',
    RINGWRIGHT_STORE_USER: 'ada',
    RINGWRIGHT_STORE_PASSWORD_FILE: '/run/secret',
  };
  const option = (name: string): string | undefined => (name === 'store-ca' ? 'ca.pem' : undefined);
  expect(storeAccessOf(option, env)).toEqual({
    ca: resolve('ca.pem'),
    key: '/etc/key.pem',
    user: 'ada',
    passwordFile: '/run/secret',
  });
  expect(storeAccessOf(() => undefined, {})).toEqual({});
});

test('the URL is kept without its user, and credentials not given again are kept', async () => {
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-store-'));
  await useStore(rings, {
    url: url.replace('//', '//ada@'),
    stores,
    access: { ca: '/etc/ca.pem' },
  });
  const ada = { url, stores, access: { ca: '/etc/ca.pem', user: 'ada' } };
  expect(await readStoreFile(rings)).toEqual(ada);
  // Values that are not given again are kept.
  await useStore(rings, { url, stores: [], access: { passwordFile: '/run/secret' } });
  const both = { ...ada.access, passwordFile: '/run/secret' };
  expect(await readStoreFile(rings)).toEqual({ ...ada, access: both });
  await useStore(rings, { url: url.replace('//', '//bob@'), stores: [] });
  expect(await readStoreFile(rings)).toMatchObject({ url, access: { user: 'bob' } });
});

const refused = ['etcds://ada:pencil@h:1', 'etcd://@h:1', 'etcds://h', 'etcds://h:1,/x'];

test.for(refused)('the URL %s is refused and not remembered', async (url) => {
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-store-'));
  await expect(useStore(rings, { url, stores })).rejects.toMatchObject({ code: 'USAGE' });
  expect(await readStoreFile(rings)).toBe(null);
});

test('credentials that someone wrote into store.json are ignored', async () => {
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-store-'));
  await useStore(rings, { url: url.replace('//', '//ada@'), stores: [] });
  const file = join(rings, 'store.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ format: 1, url, stores: [] });
  const access = { user: 'x', passwordFile: '/home/ada/.config/ringwright/keys/ada.key' };
  await writeFile(file, JSON.stringify({ format: 1, url, stores: [], access }));
  expect(await readStoreFile(rings)).toEqual({ url, stores: [], access: { user: 'ada' } });
  const theirs = 'etcd://6.6.6.6:2379';
  await writeFile(file, JSON.stringify({ format: 1, url: theirs, stores: [], access }));
  expect(await readStoreFile(rings)).toEqual({ url: theirs, stores: [] });
});
