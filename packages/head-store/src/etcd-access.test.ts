// Attack: an etcd with authentication. Intruders are refused, and certainly changed nothing.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Certificates,
  makeCertificates,
  opensslHere,
} from '../../../test/support/certificates.ts';
import { type EtcdCluster, etcdHere, startEtcd } from '../../../test/support/etcd-cluster.ts';
import { postEtcd } from './etcd-request.ts';
import { openHeadStore } from './open-head-store.ts';
import { openAccess, type StoreAccess } from './store-access.ts';

let folder = '';
let certificates: Certificates;
let etcd: EtcdCluster;
const here = etcdHere && opensslHere;

beforeAll(async () => {
  if (!here) return;
  folder = await mkdtemp(join(tmpdir(), 'ringwright-certificates-'));
  certificates = await makeCertificates(folder);
  etcd = await startEtcd(certificates);
}, 60_000);
afterAll(() => etcd?.close());

/** Sends a request to one member, as root if a token is passed. */
async function ask(path: string, body: unknown, token: string | null = null): Promise<unknown> {
  const member = etcd.url.replace('etcds://', '').split(',')[0] ?? '';
  const place = { tls: true, access: certificates };
  const post = { member, path: `/v3/auth/${path}`, body, token };
  return json(await postEtcd(place, post, AbortSignal.timeout(5_000)));
}

async function passwordFile(password: string): Promise<string> {
  const path = join(folder, `password-${password}`);
  await writeFile(path, `${password}\n`, { mode: 0o600 });
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe.skipIf(!here)('an etcd with certificates and users', () => {
  test('a client with a certificate of the authority reads, swaps and watches', async () => {
    const store = openHeadStore(`${etcd.url}/secured`, certificates);
    expect(await store.swap('cities', null, 'first')).toBe('won');
    expect(await store.swap('cities', null, 'other')).toBe('lost');
    expect(await store.read('cities')).toMatchObject({ value: 'first' });
    const told = await new Promise((resolve, reject) => {
      const stop = store.watch({
        onHead: (ring, value) => (stop(), resolve([ring, value])),
        onTrouble: reject,
      });
    });
    expect(told).toEqual(['cities', 'first']);
  });

  test('a client without one, or in plain text, has certainly changed nothing', async () => {
    const { ca, cert, key } = certificates;
    const other = await makeCertificates(await mkdtemp(join(tmpdir(), 'ringwright-other-')));
    const intruders: [string, StoreAccess][] = [
      [etcd.url, openAccess],
      [etcd.url, { ca }],
      [etcd.url, { cert, key }],
      [etcd.url, { ...other, ca }],
      [etcd.url, { ...certificates, ca: other.ca }],
    ];
    for (const [url, access] of intruders) {
      const store = openHeadStore(`${url}/secured`, access);
      await expect(store.swap('rivers', null, 'intruder')).rejects.toMatchObject({
        code: 'HEAD_STORE_UNREACHABLE',
        hint: expect.stringContaining('--store-ca'),
      });
    }
    const plain = openHeadStore(etcd.url.replace('etcds', 'etcd'), certificates);
    await expect(plain.read('rivers')).rejects.toMatchObject({
      code: expect.stringMatching(/^HEAD_STORE_/),
    });
    const gone = openHeadStore(etcd.url, { ...certificates, key: join(folder, 'gone') });
    await expect(gone.read('rivers')).rejects.toMatchObject({ code: 'USAGE' });
    expect(await openHeadStore(`${etcd.url}/secured`, certificates).read('rivers')).toBe(null);
  });

  test('a user may do what its role allows, and logs in again after losing its token', async () => {
    await ask('user/add', { name: 'root', password: 'root' });
    await ask('role/add', { name: 'root' });
    await ask('user/grant', { user: 'root', role: 'root' });
    await ask('user/add', { name: 'ada', password: 'pencil' });
    await ask('role/add', { name: 'rings' });
    const [key, range_end] = [base64('mine/'), base64('mine0')];
    await ask('role/grant', { name: 'rings', perm: { permType: 'READWRITE', key, range_end } });
    await ask('user/grant', { user: 'ada', role: 'rings' });
    await ask('enable', {});
    const host = etcd.url.replace('etcds://', '');
    const open = async (user: string, password: string, prefix = 'mine') =>
      openHeadStore(`etcds://${user}${host}/${prefix}`, {
        ...certificates,
        ...(password === '' ? {} : { passwordFile: await passwordFile(password) }),
      });
    const ada = await open('ada@', 'pencil');
    expect(await ada.swap('cities', null, 'hers')).toBe('won');
    for (const [user, password, prefix] of [
      ['', '', 'mine'],
      ['ada@', 'pen', 'mine'],
      ['ada@', '', 'mine'],
      ['bob@', 'pencil', 'mine'],
      ['ada@', 'pencil', 'yours'],
    ] as const) {
      const store = await open(user, password, prefix);
      const refused = { code: 'HEAD_STORE_REFUSED', hint: expect.stringContaining('USER@') };
      await expect(store.read('cities')).rejects.toMatchObject(refused);
      await expect(store.swap('cities', null, 'intruder')).rejects.toMatchObject(refused);
    }
    const { token } = (await ask('authenticate', { name: 'root', password: 'root' })) as {
      token: string;
    };
    await ask('disable', {}, token);
    await ask('enable', {});
    expect(await ada.read('cities')).toMatchObject({ value: 'hers' });
    expect(() => openHeadStore(`etcds://ada:pencil@${host}`)).toThrow('contains a password');
  });
});
