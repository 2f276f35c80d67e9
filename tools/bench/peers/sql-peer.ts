// A SQL database in bench:store: a key-value load, and its cost.
import fs from 'node:fs/promises';
import path from 'node:path';
import { outputOf } from '../measure/finished-program.ts';

export interface SqlLoad {
  readonly op: 'put' | 'get';
  readonly seconds: number;
  readonly clients: number;
}

/** The table of the load, which contains all of the keys. */
export interface SqlTable {
  readonly keys: number;
  readonly valueBytes: number;
}

export interface SqlFigures {
  readonly perSecond: number;
  /** All requests sent, including those before the measurement. */
  readonly requests: number;
}

export interface SqlPeer extends AsyncDisposable {
  readonly name: string;
  /** The program that sends the load. */
  readonly client: string;
  readonly pids: readonly number[];
  readonly load: (load: SqlLoad) => Promise<SqlFigures>;
}

/**
 * Returns the command prefix for a program that refuses to run as root: it switches to Debian's
 * user for the program. That user gets `folder`, and may traverse the folder above it.
 */
export async function runningAs(user: string, folder: string): Promise<readonly string[]> {
  await fs.mkdir(folder, { recursive: true });
  if (process.getuid?.() !== 0) return [];
  const id = async (flag: string): Promise<number> => Number(await outputOf('id', [flag, user]));
  await fs.chown(folder, await id('-u'), await id('-g'));
  await fs.chmod(path.dirname(folder), 0o711);
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
}
