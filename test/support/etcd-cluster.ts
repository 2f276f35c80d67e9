// A real etcd of three members on free loopback ports, if etcd is installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { postEtcd } from '@ringwright/head-store/etcd-request';
import { openAccess, type StoreAccess } from '@ringwright/head-store/store-access';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { afterAll, beforeAll } from 'vitest';

export interface EtcdCluster {
  /** Without a prefix. */
  readonly url: string;
  kill(member: number): Promise<void>;
  close(): Promise<void>;
}

export const etcdHere = spawnSync('etcd', ['--version']).status === 0;
if (!etcdHere) process.stderr.write('etcd is not installed: its tests are skipped\n');

/** Starts one etcd for all tests of the calling file. Returns null if it is not installed. */
export function etcdForFile(): () => EtcdCluster | null {
  let etcd: EtcdCluster | null = null;
  beforeAll(async () => {
    if (etcdHere) etcd = await startEtcd();
  }, 60_000);
  afterAll(() => etcd?.close());
  return () => etcd;
}

/** With `secured`, members accept only clients that present a certificate of that authority. */
export async function startEtcd(secured?: StoreAccess): Promise<EtcdCluster> {
  const ports = await freePorts(6);
  const data = await mkdtemp(join(tmpdir(), 'ringwright-etcd-'));
  const at = (port: number | undefined): string => `http://127.0.0.1:${port}`;
  const names = ['one', 'two', 'three'];
  const peers = names.map((name, index) => `${name}=${at(ports[index + 3])}`).join(',');
  const { ca, cert, key } = secured ?? {};
  const tls = secured
    ? ['--client-cert-auth', '--trusted-ca-file', ca, '--cert-file', cert, '--key-file', key]
    : [];
  const children = names.map((name, index) => {
    const peer = at(ports[index + 3]);
    const client = `http${secured ? 's' : ''}://127.0.0.1:${ports[index]}`;
    const args = [
      ['--name', name, '--data-dir', join(data, name), '--log-level', 'error'],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ['--initial-cluster', peers, '--initial-cluster-token', data],
      ['--heartbeat-interval', '50', '--election-timeout', '500'],
      tls,
    ].flat() as string[];
    return spawn('etcd', args, { stdio: 'ignore' });
  });
  const members = ports.slice(0, 3).map((port) => `127.0.0.1:${port}`);
  for (const member of members) {
    await waitFor(`etcd at ${member}`, {
      ask: async () => {
        const place = { tls: secured !== undefined, access: secured ?? openAccess };
        const asked = { member, path: '/v3/kv/range', body: { key: 'AA==' }, token: null };
        await text(await postEtcd(place, asked, AbortSignal.timeout(1_000)));
      },
      until: () => true,
    });
  }
  return {
    url: `etcd${secured ? 's' : ''}://${members.join(',')}`,
    kill: (member) => killed(children[member]),
    async close() {
      await Promise.all(children.map(killed));
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
