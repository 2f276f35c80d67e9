// server.json: the address where the server of a data directory listens while it runs. It is a hint
// for programs on the same machine and worthless after a crash, so it is neither synced nor
// trusted.
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { formatAddress, splitAddress } from '@ringwright/base/server-address';
import { z } from 'zod';
import { readIfThere } from './device/state-file.ts';

const listeningSchema = z.strictObject({ address: z.string() });

const fileOf = (directory: string): string => join(directory, 'server.json');

/**
 * Writes server.json, and returns a function that removes it. A write that fails is reported to
 * `onTrouble`: a server can run without this file.
 */
export async function noteListening(
  directory: string,
  listen: string,
  onTrouble: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const file = fileOf(directory);
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(temporary, `${JSON.stringify({ address: reachable(listen) })}\n`, {
      mode: 0o600,
    });
    await rename(temporary, file);
  } catch (error) {
    onTrouble(error);
    await rm(temporary, { force: true }).catch(onTrouble);
  }
  return () => rm(file, { force: true }).catch(onTrouble);
}

/**
 * Null when no server of this directory listens, or none has written its address: a power loss may
 * leave an empty file. Throws DISK_FAILED for a file that cannot be read.
 */
export async function readListening(directory: string): Promise<string | null> {
  const parse = (text: string) => listeningSchema.safeParse(jsonOrNull(text)).data?.address;
  return (await readIfThere(fileOf(directory), parse)) ?? null;
}

/** Replaces a wildcard address by the loopback address, which can be called. */
function reachable(listen: string): string {
  const { ip, port } = splitAddress(listen);
  if (ip === '0.0.0.0') return formatAddress({ ip: '127.0.0.1', port });
  return formatAddress({ ip: ip === '::' ? '::1' : ip, port });
}
