// Describes what an older program left in addition to its files: its servers, and the values that
// it acknowledged.
import path from 'node:path';
import { ServerUnderTest } from '../support/server-under-test.ts';

export interface Left {
  /** The commit of the program. */
  readonly program: string;
  /** SHA-256 of the value by keyspace and key; null: deleted, or expired meanwhile. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

/** The signing keys in `keys/` are public: they sign nothing but this. */
export const passphrase = 'correct horse battery staple';

/** Time to live of some records, which ends before the data is opened again. */
export const expiredBy = { seconds: 5 };

/** First port of the addresses in the rings, below all ports that other tests use. */
const FIRST_PORT = 7_261;

export function serversOf(folder: string): ServerUnderTest[] {
  return ['sd1', 'sd2', 'sd3', 'sd4'].map((device, index) => {
    const data = path.join(folder, 'data', device);
    return new ServerUnderTest({ device, zone: index + 1, port: FIRST_PORT + index, data });
  });
}
