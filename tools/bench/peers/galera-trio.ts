// A MariaDB Galera cluster of three nodes, if installed; mariadb-slap is its client.
import fs from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { outputOf, versionOf } from '../measure/finished-program.ts';
import { type StartedProgram, startProgram } from '../measure/started-program.ts';
import {
  runningAs,
  type SqlFigures,
  type SqlLoad,
  type SqlPeer,
  type SqlTable,
} from './sql-peer.ts';

const provider = '/usr/lib/galera/libgalera_smm.so';
const names = ['one', 'two', 'three'];
/** Ports per node: clients, group, and two for the files sent to a joiner. */
const PORTS = 4;

export async function startGalera(folder: string, table: SqlTable): Promise<SqlPeer | null> {
  if (!(await isInstalled())) return null;
  const words = await runningAs('mysql', folder);
  const ports = await freePorts(PORTS * names.length);
  const group = names.map((_, index) => `127.0.0.1:${ports[PORTS * index + 1]}`).join();
  const pids: number[] = [];
  await using started = new AsyncDisposableStack();
  // Started one after the other, because each gets its files from those before it.
  for (const [index, name] of names.entries()) {
    const node = { folder, name, group, ports: ports.slice(PORTS * index, PORTS * (index + 1)) };
    const program = await startNode(words, node);
    started.defer(() => program.stop());
    pids.push(program.pid);
  }
  await fill(path.join(folder, 'one.sock'), table);
  const load = (work: SqlLoad): Promise<SqlFigures> => slap(path.join(folder, 'one.sock'), work);
  const client = 'mariadb-slap to one node, CALL';
  const all = started.move();
  const stop = (): Promise<void> => all.disposeAsync();
  return { name: 'MariaDB Galera', client, pids, load, [Symbol.asyncDispose]: stop };
}

async function isInstalled(): Promise<boolean> {
  const needed = ['mariadbd', 'mariadb', 'mariadb-slap', 'rsync'];
  const versions = await Promise.all(needed.map(versionOf));
  const isThere = fs.access(provider).then(
    () => true,
    () => false,
  );
  return !versions.includes(null) && (await isThere);
}

interface Place {
  readonly folder: string;
  readonly name: string;
  readonly group: string;
  readonly ports: readonly number[];
}

async function startNode(
  words: readonly string[],
  { folder, name, group, ports }: Place,
): Promise<StartedProgram> {
  const data = `--datadir=${path.join(folder, name)}`;
  const root = '--auth-root-authentication-method=normal';
  const [install, ...options] = [...words, 'mariadb-install-db', '--no-defaults', data, root];
  await outputOf(install, [...options, '--skip-test-db']);
  const socket = path.join(folder, `${name}.sock`);
  const [clients, members, increments, files] = ports.map((port) => `127.0.0.1:${port}`);
  const nodeArgs = [data, `--socket=${socket}`, `--port=${ports[0]}`, '--bind-address=127.0.0.1'];
  const wsrep = [
    ['on=ON', `provider=${provider}`, `cluster-address=gcomm://${group}`, 'sst-method=rsync'],
    [`node-address=${clients}`, `sst-receive-address=${files}`],
    [`provider-options=gmcast.listen_addr=tcp://${members};ist.recv_addr=${increments}`],
  ].flat();
  const durable = ['--binlog-format=ROW', '--innodb-flush-log-at-trx-commit=1'];
  const needed = ['--innodb-autoinc-lock-mode=2', `--pid-file=${socket}.pid`];
  const clusterArgs = name === names[0] ? ['--wsrep-new-cluster'] : [];
  const [file = '', ...args] = [...words, 'mariadbd', '--no-defaults', ...nodeArgs, ...durable];
  return startProgram({
    file,
    args: [...args, ...needed, ...wsrep.map((option) => `--wsrep-${option}`), ...clusterArgs],
    logFile: path.join(folder, `${name}.log`),
    isUp: async () => (await query(socket, `SHOW STATUS LIKE '%state_comment'`)).includes('Synced'),
  });
}

function query(socket: string, text: string): Promise<string> {
  // Another delimiter, because a procedure contains semicolons.
  const options = ['--no-defaults', '-u', 'root', '-S', socket, '-N', '--delimiter=//'];
  return outputOf('mariadb', [...options, '-e', text]);
}

/**
 * mariadb-slap repeats a fixed text, so a procedure draws the key. The number makes every put a
 * change: MariaDB writes nothing when a row stays the same.
 */
async function fill(socket: string, { keys, valueBytes }: SqlTable): Promise<void> {
  const value = `repeat('x', ${valueBytes})`;
  const randomKey = `concat('key:', 1 + floor(rand() * ${keys}))`;
  const columns = 'name varchar(64) CHARACTER SET ascii PRIMARY KEY, value blob, number bigint';
  await query(socket, 'CREATE DATABASE bench');
  for (const text of [
    `CREATE TABLE bench.records (${columns})`,
    `INSERT INTO bench.records SELECT concat('key:', seq), ${value}, 0 FROM bench.seq_1_to_${keys}`,
    `CREATE PROCEDURE bench.put_one() INSERT INTO records VALUES (${randomKey}, ${value}, 0)
      ON DUPLICATE KEY UPDATE value = ${value}, number = number + 1`,
    `CREATE PROCEDURE bench.get_one() BEGIN DECLARE drawn varchar(64) CHARACTER SET ascii
      DEFAULT ${randomKey}; SELECT value FROM records WHERE name = drawn; END`,
  ]) {
    await query(socket, text);
  }
}

const TRIAL_REQUESTS = 2_000;

async function slap(socket: string, { op, seconds, clients }: SqlLoad): Promise<SqlFigures> {
  const run = async (queries: number): Promise<SqlFigures> => {
    const each = Math.ceil(queries / clients);
    const csv = await outputOf('mariadb-slap', [
      ...['--no-defaults', '-u', 'root', '-S', socket, '--create-schema=bench', '--no-drop'],
      ...[`--concurrency=${clients}`, `--number-of-queries=${each * clients}`, '--csv'],
      `--query=CALL ${op}_one()`,
    ]);
    // ,mixed,average seconds,minimum,maximum,clients,requests of each
    const took = Number(csv.trim().split(',')[2]);
    if (!(took > 0)) throw new Error(`mariadb-slap printed ${csv}`);
    return { perSecond: (each * clients) / took, requests: each * clients };
  };
  const trial = await run(TRIAL_REQUESTS);
  const { perSecond, requests } = await run(trial.perSecond * seconds);
  return { perSecond, requests: trial.requests + requests };
}
