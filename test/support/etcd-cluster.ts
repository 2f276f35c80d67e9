// A real etcd of three members on free loopback ports, where etcd is installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { waitFor } from './wait-for.ts';

export interface EtcdCluster {
  /** Without a prefix. */
  readonly url: string;
  kill(member: number): Promise<void>;
  close(): Promise<void>;
}

export const etcdHere = spawnSync('etcd', ['--version']).status === 0;
if (!etcdHere) process.stderr.write('etcd is not installed: its tests are skipped\n');

export async function startEtcd(): Promise<EtcdCluster> {
  const ports = await freePorts(6);
  const data = await mkdtemp(join(tmpdir(), 'ringwright-etcd-'));
  const at = (port: number | undefined): string => `http://127.0.0.1:${port}`;
  const names = ['one', 'two', 'three'];
  const peers = names.map((name, index) => `${name}=${at(ports[index + 3])}`).join(',');
  const children = names.map((name, index) => {
    const [client, peer] = [at(ports[index]), at(ports[index + 3])];
    const words = [
      ['--name', name, '--data-dir', join(data, name), '--log-level', 'error'],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ['--initial-cluster', peers, '--initial-cluster-token', data],
      ['--heartbeat-interval', '50', '--election-timeout', '500'],
    ].flat();
    return spawn('etcd', words, { stdio: 'ignore' });
  });
  const members = ports.slice(0, 3).map((port) => `127.0.0.1:${port}`);
  for (const member of members) {
    await waitFor(`etcd at ${member}`, {
      ask: async () => (await fetch(`http://${member}/health`)).text(),
      until: (answer) => answer.includes('true'),
    });
  }
  return {
    url: `etcd://${members.join(',')}`,
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
