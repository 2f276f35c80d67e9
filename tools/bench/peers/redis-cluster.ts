// Two masters of a Redis Cluster: one has all slots, and a share of them is resharded to the other.
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { outputOf, versionOf } from '../measure/finished-program.ts';
import type { StartedProgram } from '../measure/started-program.ts';
import { startRedisServer } from './redis-peer.ts';

const slots = 16_384;

/**
 * Fills one master with `keys` records and moves half the slots to the other with redis-cli, as its
 * manual describes. Returns the seconds, and the bytes of keys and values moved; null when Redis is
 * not installed.
 */
export async function reshardHalf(
  folder: string,
  { keys, valueBytes }: { readonly keys: number; readonly valueBytes: number },
): Promise<{ readonly seconds: number; readonly bytes: number } | null> {
  if ((await versionOf('redis-server')) === null) return null;
  // The port of the cluster's own protocol is 10,000 higher by default, which may be too high.
  const ports = await freePorts(4);
  const masters = [ports.slice(0, 2), ports.slice(2)];
  const started: StartedProgram[] = [];
  const cli = async (master: number, ...args: string[]): Promise<string> =>
    (await outputOf('redis-cli', ['-p', `${masters[master]?.[0]}`, ...args])).trim();
  try {
    for (const [index, pair] of masters.entries()) {
      started.push(await startMaster(path.join(folder, `master-${index}`), pair));
    }
    await cli(0, 'cluster', 'addslotsrange', '0', `${slots - 1}`);
    const [port, busPort] = masters[1] ?? [];
    await cli(0, 'cluster', 'meet', '127.0.0.1', `${port}`, `${busPort}`);
    await cli(0, 'debug', 'populate', `${keys}`, 'key', `${valueBytes}`);
    const ids = [await cli(0, 'cluster', 'myid'), await cli(1, 'cluster', 'myid')];
    const isMet = async (): Promise<boolean> =>
      (await Promise.all([0, 1].map((master) => cli(master, 'cluster', 'info')))).every((info) =>
        /cluster_state:ok[^]*cluster_known_nodes:2/.test(info),
      );
    await waitFor('a cluster of two', { ask: isMet, until: Boolean });
    const seconds = await reshard(`127.0.0.1:${masters[0]?.[0]}`, ids);
    const moved = Number(await cli(1, 'dbsize'));
    return { seconds, bytes: moved * (valueBytes + 'key:'.length + `${keys}`.length) };
  } finally {
    await Promise.all(started.map(({ stop }) => stop('SIGKILL')));
  }
}

function startMaster(
  folder: string,
  [port = 0, busPort]: readonly number[],
): Promise<StartedProgram> {
  const clustered = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`];
  return startRedisServer(folder, port, [...clustered, '--enable-debug-command', 'yes']);
}

async function reshard(address: string, [from, to]: readonly string[]): Promise<number> {
  const before = performance.now();
  await outputOf('redis-cli', [
    ...['--cluster', 'reshard', address, '--cluster-from', `${from}`, '--cluster-to', `${to}`],
    ...['--cluster-slots', `${slots / 2}`, '--cluster-yes'],
  ]);
  return (performance.now() - before) / 1000;
}
