// The access document: who may do what in a cluster, signed like rings. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import {
  accessChangeCharactersMax,
  accessDocumentBytesMax,
  accessPayloadBytesMax,
  accessTokensMax,
  accessVersionMax,
  tokenGrantsMax,
} from '@ringwright/base/limits-access';
import { sha256 } from '@ringwright/base/sha256';
import { signatureSchema } from '@ringwright/ring/file/ring-envelope';
import type { Payload } from '@ringwright/ring/trust/dsse';
import {
  parseWithSchema,
  payloadOf,
  type SignedDocument,
} from '@ringwright/ring/trust/signed-document';
import { z } from 'zod';
import { grantSchema } from './grant.ts';
import { tokenIdPattern } from './token.ts';

const accessType = 'application/vnd.ringwright.access+json';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const tokenSchema = z.strictObject({
  id: z.string().regex(tokenIdPattern),
  /** Hash of the secret (token.ts). */
  hash,
  /** Milliseconds since 1970, UTC; null: never. */
  expiresMs: z.int().min(0).nullable(),
  grants: z.array(grantSchema).min(1).max(tokenGrantsMax),
});

export type GrantedToken = z.infer<typeof tokenSchema>;

const accessSchema = z.strictObject({
  cluster: z.string().min(1).max(128),
  /** Epoch of the root: raised after a compromise, and compared before the version. */
  epoch: z.int().min(1),
  /** 1, 2, 3 …: a server accepts no version below its own. */
  version: z.int().min(1).max(accessVersionMax),
  /** Id of the previous document; null for the first. */
  previous: hash.nullable(),
  /** Author, time and description of the last change, for lists and logs. */
  by: z.string().max(128),
  ms: z.int().min(0),
  change: z.string().max(accessChangeCharactersMax),
  /** Sorted by id. */
  tokens: z.array(tokenSchema).max(accessTokensMax),
});

export type AccessDocument = z.infer<typeof accessSchema>;

const fileSchema = z.strictObject({
  payload: z.string().max(accessPayloadBytesMax),
  payloadType: z.literal(accessType),
  signatures: z.array(signatureSchema).max(ringSignatureCountMax),
});

export function accessPayload(document: AccessDocument): Payload {
  return { type: accessType, bytes: Buffer.from(canonicalJson(document)) };
}

/** SHA-256 (hex) of the signed bytes. */
export function accessIdOf({ bytes }: Payload): string {
  return sha256(bytes);
}

/** Parses a file into a signed document that is not verified yet. Throws ACCESS_INVALID. */
export function parseAccessFile(bytes: Uint8Array): SignedDocument {
  if (bytes.length > accessDocumentBytesMax) {
    throw accessInvalid(`${bytes.length} bytes; the maximum is ${accessDocumentBytesMax}`);
  }
  return parseWithSchema(fileSchema, Buffer.from(bytes).toString('utf8'), accessInvalid);
}

/** Decodes a document. openAccess verifies the signatures before. Throws ACCESS_INVALID. */
export function decodeAccess(file: SignedDocument): AccessDocument {
  const document = parseWithSchema(accessSchema, file.payload, accessInvalid);
  const canonical = Buffer.from(accessPayload(document).bytes);
  if (!canonical.equals(payloadOf(file).bytes)) throw accessInvalid('it is not in canonical form');
  for (const [index, { id }] of document.tokens.entries()) {
    const before = document.tokens[index - 1];
    if (before !== undefined && before.id >= id) throw accessInvalid(`token ${id} is out of order`);
  }
  return document;
}

export function accessInvalid(
  sentence: string,
  details: Readonly<Record<string, unknown>> = {},
): CodedError {
  return new CodedError('ACCESS_INVALID', `access document: ${sentence}`, {
    hint: 'restore it from git, or from trust/access.json in the data directory of a server',
    details,
  });
}
