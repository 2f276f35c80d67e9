// What bench:store asks of a database that speaks SQL: a key-value load, and what it cost.
import fs from 'node:fs/promises';
import path from 'node:path';
import { outputOf } from '../measure/finished-program.ts';

export interface SqlLoad {
  readonly op: 'put' | 'get';
  readonly seconds: number;
  readonly clients: number;
}

/** The table that the load goes to: all of the keys are there. */
export interface SqlTable {
  readonly keys: number;
  readonly valueBytes: number;
}

export interface SqlFigures {
  readonly perSecond: number;
  /** All that were sent, those before the measurement too. */
  readonly requests: number;
}

export interface SqlPeer extends AsyncDisposable {
  readonly name: string;
  /** What sends the load. */
  readonly client: string;
  readonly pids: readonly number[];
  readonly load: (load: SqlLoad) => Promise<SqlFigures>;
}

/**
 * Words before a program that refuses to run as root: the user that Debian has for it, who is given
 * `folder` and may pass the one above.
 */
export async function runningAs(user: string, folder: string): Promise<readonly string[]> {
  await fs.mkdir(folder, { recursive: true });
  if (process.getuid?.() !== 0) return [];
  const id = async (which: string): Promise<number> => Number(await outputOf('id', [which, user]));
  await fs.chown(folder, await id('-u'), await id('-g'));
  await fs.chmod(path.dirname(folder), 0o711);
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
}
