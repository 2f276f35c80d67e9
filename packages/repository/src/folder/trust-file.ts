// rings/trust.json: the chain of roots of a rings folder. It lies beside the rings, because keys
// belong to people and a cluster: revoking a key must hold for every ring at once.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { trustFileBytesMax } from '@ringwright/base/limits';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import type { SignedDocument } from '@ringwright/ring/trust/signed-document';
import { parseTrustFile, printTrustFile, walkRoots } from '@ringwright/ring/trust/trust-chain';
import type { Trust } from '@ringwright/ring/trust/trust-root';

export interface RingsTrust {
  readonly documents: readonly SignedDocument[];
  /** Every root, oldest first. */
  readonly roots: readonly Trust[];
  /** The newest root. */
  readonly trust: Trust;
  /** The bytes of the file, ready to be sent to servers. */
  readonly bytes: Uint8Array;
}

export function trustPath(rings: string): string {
  return join(rings, 'trust.json');
}

/**
 * Returns null if the folder is unsigned. Throws TRUST_INVALID for a damaged file, and FILE_UNFIT
 * or DISK_FAILED for one that cannot be read.
 */
export async function readTrust(rings: string): Promise<RingsTrust | null> {
  const reading = readRegularFile(trustPath(rings), trustFileBytesMax).catch(nullIfMissing);
  const bytes = await reading.catch((error: unknown) => {
    throw codedOrDisk(error);
  });
  return bytes === null ? null : openTrustFile(bytes, null);
}

/**
 * `anchor`: id of a root that is trusted already, or null to trust the file itself. Throws
 * TRUST_INVALID, TRUST_FORK if the anchor is not in the chain.
 */
export function openTrustFile(bytes: Uint8Array, anchor: string | null): RingsTrust {
  const documents = parseTrustFile(bytes);
  const roots = walkRoots(documents, anchor);
  return { documents, roots, trust: roots[roots.length - 1] ?? roots[0], bytes };
}

/** Returns the trust of a folder that must have one. Throws TRUST_UNKNOWN, TRUST_INVALID. */
export async function requireTrust(rings: string): Promise<RingsTrust> {
  const found = await readTrust(rings);
  if (found !== null) return found;
  throw new CodedError('TRUST_UNKNOWN', `${trustPath(rings)} does not exist`, {
    hint:
      'ring-builder key generate turns on signing; if it was lost, restore it from git, a copy, ' +
      'or the file that servers are started with (--trust)',
  });
}

export async function writeTrust(
  rings: string,
  documents: readonly SignedDocument[],
): Promise<void> {
  await replaceDurably(trustPath(rings), printTrustFile(documents));
}
