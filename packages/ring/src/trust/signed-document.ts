// A signed document: payload bytes, their type, and signatures; as canonical JSON. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import type { CodedError } from '@ringwright/base/coded-error';
import { ringSignatureCountMax, trustRootBytesMax } from '@ringwright/base/limits';
import { parseJson, whyNotJson } from '@ringwright/base/parse-json';
import { z } from 'zod';
import { firstComplaint } from '../device-fields.ts';
import { type RingSignature, signatureSchema } from '../file/ring-envelope.ts';
import type { Payload } from './dsse.ts';

export const signedDocumentSchema = z.strictObject({
  /** The signed bytes as text: they are JSON, so a person can read what was signed. */
  payload: z
    .string()
    .max(trustRootBytesMax)
    // A lone surrogate would be signed as another character than the one displayed.
    .refine((text) => Buffer.from(text, 'utf8').toString('utf8') === text, 'no valid text'),
  payloadType: z.string().max(128),
  signatures: z.array(signatureSchema).max(ringSignatureCountMax),
});

export type SignedDocument = z.infer<typeof signedDocumentSchema>;

export function signedDocument(
  payload: Payload,
  signatures: readonly RingSignature[],
): SignedDocument {
  const sorted = [...signatures].sort((a, b) => (a.keyid < b.keyid ? -1 : 1));
  const text = Buffer.from(payload.bytes).toString('utf8');
  return { payload: text, payloadType: payload.type, signatures: sorted };
}

/** Returns what the signatures of a document cover. */
export function payloadOf({ payload, payloadType }: SignedDocument): Payload {
  return { type: payloadType, bytes: Buffer.from(payload, 'utf8') };
}

export function printSigned(document: SignedDocument): string {
  return canonicalJson(document);
}

/** Parses a document or its payload. `refuse` gets a sentence that says what is wrong. */
export function parseWithSchema<Parsed>(
  schema: z.ZodType<Parsed>,
  text: string,
  refuse: (sentence: string) => CodedError,
): Parsed {
  const parsed = schema.safeParse(parseJson(text, () => refuse(`it ${whyNotJson(text)}`)));
  if (!parsed.success) throw refuse(`invalid in ${firstComplaint(parsed.error)}`);
  return parsed.data;
}
