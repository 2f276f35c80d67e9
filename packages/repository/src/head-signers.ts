// Reads who signed the head of a ring, without decoding the ring. Servers are found by it.
import { ringFileBytesMax } from '@ringwright/base/limits';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import { ringPayloadType } from '@ringwright/ring/file/ring-envelope';
import { decodeManifest, type Signing } from '@ringwright/ring/file/ring-manifest';
import { signersOf } from '@ringwright/ring/trust/dsse';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { headOf, readLog } from './folder/read-log.ts';
import { ringFolder, versionPath } from './folder/ring-folder.ts';

export interface HeadSignatures {
  readonly version: number;
  /** Null: the head is unsigned. */
  readonly signing: Signing | null;
  /** Ids of the ring keys that signed it: those of its own root, or of a later one. */
  readonly signers: ReadonlySet<string>;
}

/**
 * `roots`: the trusted ones, oldest first. Returns null for a ring without versions. Throws
 * RING_LOG_DAMAGED, RING_FILE_INVALID and the like, and Node's own errors.
 */
export async function headSignatures(
  rings: string,
  ring: string,
  roots: readonly Trust[],
): Promise<HeadSignatures | null> {
  const head = headOf(await readLog(rings, ring));
  if (head === null) return null;
  const path = versionPath(ringFolder(rings, ring), head.version);
  const { signatures, manifest } = splitRingFile(await readRegularFile(path, ringFileBytesMax));
  const { signing = null } = decodeManifest(manifest);
  const at = roots.findIndex(({ id }) => id === signing?.root);
  const keys = new Map(roots.slice(Math.max(0, at)).flatMap((root) => [...root.keys.ring]));
  const payload = { type: ringPayloadType, bytes: manifest };
  return { version: head.version, signing, signers: signersOf(payload, signatures, keys) };
}
