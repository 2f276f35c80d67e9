// rings/access.json: who may do what in the cluster of a rings folder. Beside the rings, as
// trust.json is: one document for all of them.
import { join } from 'node:path';
import {
  type AccessDocument,
  decodeAccess,
  parseAccessFile,
} from '@ringwright/access/access-document';
import { accessSigners } from '@ringwright/access/open-access';
import { accessDocumentBytesMax } from '@ringwright/base/limits-access';
import { replaceDurably } from '@ringwright/node/durable-files';
import { onlyMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { printSigned, type SignedDocument } from '@ringwright/ring/trust/signed-document';
import type { Trust } from '@ringwright/ring/trust/trust-root';

export interface RingsAccess {
  readonly document: AccessDocument;
  readonly file: SignedDocument;
  /** Ids of the ring keys that signed it, and how many have to. */
  readonly signers: readonly string[];
  readonly needed: number;
  /** The file as it is, ready to be given to servers when enough have signed it. */
  readonly bytes: Uint8Array;
}

export function accessPath(rings: string): string {
  return join(rings, 'access.json');
}

/** Null when nobody has granted anything. Throws ACCESS_INVALID: a damaged file is no missing one. */
export async function readAccess(rings: string, trust: Trust): Promise<RingsAccess | null> {
  const bytes = await readRegularFile(accessPath(rings), accessDocumentBytesMax).catch(onlyMissing);
  if (bytes === null) return null;
  const file = parseAccessFile(bytes);
  const signers = [...accessSigners(file, trust)];
  const needed = trust.root.roles.ring.threshold;
  return { document: decodeAccess(file), file, signers, needed, bytes };
}

/** Null too while it waits for signatures: servers go on with the one they have. */
export async function accessToGive(rings: string, trust: Trust): Promise<Uint8Array | null> {
  const access = await readAccess(rings, trust);
  return access === null || access.signers.length < access.needed ? null : access.bytes;
}

export async function writeAccess(rings: string, file: SignedDocument): Promise<void> {
  await replaceDurably(accessPath(rings), printSigned(file));
}
