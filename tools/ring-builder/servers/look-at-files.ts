// Has a server compare its open files with its data directory, and tells what is damaged there.
import { filesLook } from '@ringwright/wire/files';
import { withServer } from './server-connection.ts';

export interface LookedAt {
  /** What happened to the files that take and give nothing, by partition. */
  readonly damaged: ReadonlyMap<number, string>;
  /** What happened to the commit log, if it had to begin anew. */
  readonly log: string | null;
}

/** Of thousands of files on a busy disk. */
const lookTimeoutMs = 10_000;

/** Throws PEER_UNREACHABLE, PEER_FAILED, and what the server answers with, as STORE_FAILED. */
export async function lookAtFiles(address: string, keyspace: string): Promise<LookedAt> {
  const { damaged, log } = await withServer(address, (server) =>
    server.call(filesLook, { keyspace }, lookTimeoutMs),
  );
  return { damaged: new Map(damaged.map(({ partition, reason }) => [partition, reason])), log };
}
