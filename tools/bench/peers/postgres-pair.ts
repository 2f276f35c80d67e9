// PostgreSQL with a standby that has each commit on disk before it is acknowledged, if installed;
// pgbench is its client.
import fs from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { outputOf, versionOf } from '../measure/finished-program.ts';
import { startProgram } from '../measure/started-program.ts';
import {
  runningAs,
  type SqlFigures,
  type SqlLoad,
  type SqlPeer,
  type SqlTable,
} from './sql-peer.ts';

/** Debian's folder of the programs of each version. */
const versions = '/usr/lib/postgresql';
const user = 'bench';

/** Returns the output of one of its programs. */
type Run = (name: string, ...args: string[]) => Promise<string>;

export async function startPostgres(folder: string, table: SqlTable): Promise<SqlPeer | null> {
  const bin = await newestPrograms();
  if (bin === null) return null;
  const words = await runningAs('postgres', folder);
  const run: Run = (name, ...args) => {
    const [file = '', ...rest] = [...words, path.join(bin, name), ...args];
    return outputOf(file, rest);
  };
  const [first = 0, second = 0] = await freePorts(2);
  const reach = (port: number): string[] => ['-h', '127.0.0.1', '-p', `${port}`, '-U', user];
  await using started = new AsyncDisposableStack();
  const start = async (name: string, port: number): Promise<number> => {
    const nodeArgs = ['-D', path.join(folder, name), '-h', '127.0.0.1', '-p', `${port}`, '-k', ''];
    const [file = '', ...rest] = [...words, path.join(bin, 'postgres'), ...nodeArgs];
    const { pid, stop } = await startProgram({
      file,
      args: rest,
      logFile: path.join(folder, `${name}.log`),
      isUp: async () => (await run('pg_isready', ...reach(port))) !== '',
    });
    started.defer(() => stop('SIGINT')); // does not wait for sessions
    return pid;
  };
  await run('initdb', '-D', path.join(folder, 'primary'), '--auth=trust', '-U', user);
  const primary = await start('primary', first);
  const query: Query = (text) => run('psql', ...reach(first), '-At', '-c', text, 'postgres');
  const copy = path.join(folder, 'standby');
  await run('pg_basebackup', ...reach(first), '-D', copy, '-R', '-c', 'fast');
  const pids = [primary, await start('standby', second)];
  await makeSynchronous(query);
  await fill(query, table);
  const load = (work: SqlLoad): Promise<SqlFigures> =>
    pgbench((...args) => run('pgbench', ...reach(first), ...args, 'postgres'), {
      ...work,
      ...table,
      folder,
    });
  const all = started.move();
  const stop = (): Promise<void> => all.disposeAsync();
  const name = 'PostgreSQL, synchronous standby';
  return { name, client: 'pgbench, prepared', pids, load, [Symbol.asyncDispose]: stop };
}

async function newestPrograms(): Promise<string | null> {
  const found = await fs.readdir(versions).catch(() => []);
  const [newest] = found.sort((a, b) => Number(b) - Number(a));
  if (newest === undefined) return null;
  const bin = path.join(versions, newest, 'bin');
  const needed = ['postgres', 'initdb', 'pg_basebackup', 'pgbench'];
  const foundVersions = await Promise.all(needed.map((name) => versionOf(path.join(bin, name))));
  return foundVersions.includes(null) ? null : bin;
}

type Query = (text: string) => Promise<string>;

async function makeSynchronous(query: Query): Promise<void> {
  await query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await query('SELECT pg_reload_conf()');
  const ask = (): Promise<string> => query('SELECT sync_state FROM pg_stat_replication');
  await waitFor('a synchronous standby', { ask, until: (state) => state.trim() === 'sync' });
}

async function fill(query: Query, { keys, valueBytes }: SqlTable): Promise<void> {
  await query('CREATE TABLE records (key text PRIMARY KEY, value text)');
  const rows = `SELECT 'key:' || n, repeat('x', ${valueBytes}) FROM generate_series(1, ${keys}) n`;
  await query(`INSERT INTO records ${rows}`);
  await query('VACUUM ANALYZE records');
}

/** Runs one prepared statement per transaction, with a new random key each. */
async function pgbench(
  run: (...args: string[]) => Promise<string>,
  { op, seconds, clients, keys, valueBytes, folder }: SqlLoad & SqlTable & { folder: string },
): Promise<SqlFigures> {
  const value = 'x'.repeat(valueBytes);
  const replaces = 'ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value';
  const statements = {
    put: `INSERT INTO records VALUES ('key:' || :number, '${value}') ${replaces};`,
    get: `SELECT value FROM records WHERE key = 'key:' || :number;`,
  };
  const script = path.join(folder, `${op}.sql`);
  await fs.writeFile(script, `\\set number random(1, ${keys})\n${statements[op]}\n`);
  const shape = ['-n', '-M', 'prepared', '-c', `${clients}`, '-T', `${Math.ceil(seconds)}`];
  const output = await run(...shape, '-f', script);
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
  const requests = Number(/actually processed: (\d+)/.exec(output)?.[1]);
  if (!(perSecond > 0 && requests > 0)) throw new Error(`pgbench printed ${output}`);
  return { perSecond, requests };
}
