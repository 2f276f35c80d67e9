// An etcd cluster of three members, if etcd is installed.
import fs from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { versionOf } from '../measure/finished-program.ts';
import { startProgram } from '../measure/started-program.ts';

const names = ['one', 'two', 'three'];

interface EtcdPeer extends AsyncDisposable {
  readonly addresses: readonly string[];
}

export async function startEtcd(folder: string): Promise<EtcdPeer | null> {
  if ((await versionOf('etcd')) === null) return null;
  await fs.mkdir(folder, { recursive: true });
  const ports = await freePorts(2 * names.length);
  const urlOf = (index: number): string => `http://127.0.0.1:${ports[index]}`;
  const peers = names.map((name, index) => `${name}=${urlOf(index + names.length)}`).join(',');
  const programs = await Promise.all(
    names.map((name, index) => {
      const [client, peer] = [urlOf(index), urlOf(index + names.length)];
      return startProgram({
        file: 'etcd',
        args: [
          ['--name', name, '--data-dir', path.join(folder, name), '--log-level', 'error'],
          ['--listen-client-urls', client, '--advertise-client-urls', client],
          ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
          ['--initial-cluster', peers, '--quota-backend-bytes', `${8 * 2 ** 30}`],
        ].flat(),
        logFile: path.join(folder, `${name}.log`),
        isUp: async () => (await (await fetch(`${client}/health`)).text()).includes('true'),
      });
    }),
  );
  return {
    addresses: names.map((_, index) => `127.0.0.1:${ports[index]}`),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(programs.map(({ stop }) => stop()));
    },
  };
}
