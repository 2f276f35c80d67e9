// What an older program left behind, beside its files: its servers, and the values acknowledged.
import path from 'node:path';
import { ServerUnderTest } from '../support/server-under-test.ts';

export interface Left {
  /** The commit of the program. */
  readonly program: string;
  /** By keyspace and key: SHA-256 of the value; null: deleted, or expired meanwhile. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

/** The signing keys in `keys/` are open to everybody: they sign nothing but this. */
export const passphrase = 'correct horse battery staple';

/** Records with a time to live have one that is over before the data is opened again. */
export const expiredBy = { seconds: 5 };

/** The rings name these addresses: below all ports that other tests take. */
const FIRST_PORT = 7_261;

export function serversOf(folder: string): ServerUnderTest[] {
  return ['sd1', 'sd2', 'sd3', 'sd4'].map((device, index) => {
    const data = path.join(folder, 'data', device);
    return new ServerUnderTest({ device, zone: index + 1, port: FIRST_PORT + index, data });
  });
}
