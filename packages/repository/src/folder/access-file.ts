// rings/access.json: who may do what in the cluster of a rings folder. Like trust.json it lies
// beside the rings: one document for all of them.
import { join } from 'node:path';
import {
  type AccessDocument,
  decodeAccess,
  parseAccessFile,
} from '@ringwright/access/access-document';
import { accessSigners } from '@ringwright/access/open-access';
import { accessDocumentBytesMax } from '@ringwright/base/limits-access';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { printSigned, type SignedDocument } from '@ringwright/ring/trust/signed-document';
import type { Trust } from '@ringwright/ring/trust/trust-root';

export interface RingsAccess {
  readonly document: AccessDocument;
  readonly file: SignedDocument;
  /** Ids of the ring keys that signed it in the present epoch, and the number required. */
  readonly signers: readonly string[];
  readonly needed: number;
  /** The bytes of the file, to be sent to servers once enough keys have signed it. */
  readonly bytes: Uint8Array;
}

export function accessPath(rings: string): string {
  return join(rings, 'access.json');
}

/** Returns null if no access was ever granted. Throws ACCESS_INVALID for a damaged file. */
export async function readAccess(rings: string, trust: Trust): Promise<RingsAccess | null> {
  const bytes = await readRegularFile(accessPath(rings), accessDocumentBytesMax).catch(
    nullIfMissing,
  );
  if (bytes === null) return null;
  const file = parseAccessFile(bytes);
  const document = decodeAccess(file);
  const signers = document.epoch === trust.root.epoch ? [...accessSigners(file, trust)] : [];
  return { document, file, signers, needed: trust.root.roles.ring.threshold, bytes };
}

/** Also returns null while the document waits for signatures: servers keep the one they have. */
export async function accessToGive(rings: string, trust: Trust): Promise<Uint8Array | null> {
  const access = await readAccess(rings, trust);
  return access === null || access.signers.length < access.needed ? null : access.bytes;
}

export async function writeAccess(rings: string, file: SignedDocument): Promise<void> {
  await replaceDurably(accessPath(rings), printSigned(file));
}
