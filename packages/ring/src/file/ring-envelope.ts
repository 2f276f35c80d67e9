// The envelope of a ring file: the ring id and its signatures. The id does not cover it. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { firstComplaint } from '../device-fields.ts';
import { fileInvalid } from './ring-file-error.ts';
import { ringJson } from './ring-manifest.ts';

/** Signatures cover it and the manifest's bytes (DSSE pre-authentication encoding). */
export const ringPayloadType = 'application/vnd.ringwright.ring-manifest+json';

export const signatureSchema = z.strictObject({
  /** SHA-256 (hex) of the key's SPKI bytes. */
  keyid: z.string().regex(/^[0-9a-f]{64}$/),
  /** ed25519: 64 bytes in canonical base64. */
  sig: z.string().regex(/^[A-Za-z0-9+/]{85}[AQgw]==$/),
});

export type RingSignature = z.infer<typeof signatureSchema>;

const envelopeSchema = z.strictObject({
  /** The ring id. It distinguishes a damaged manifest from that of another ring. */
  id: z.string().regex(/^[0-9a-f]{64}$/),
  payloadType: z.literal(ringPayloadType),
  signatures: z.array(signatureSchema).max(ringSignatureCountMax),
});

type Envelope = z.infer<typeof envelopeSchema>;

export function encodeEnvelope(id: string, signatures: readonly RingSignature[]): Buffer {
  return Buffer.from(canonicalJson({ id, payloadType: ringPayloadType, signatures }));
}

/**
 * Accepts only the exact bytes that `encodeEnvelope` gives, so that no byte of an unsigned file can
 * change unnoticed: the envelope names the id, the id covers the manifest, and the manifest covers
 * the sections.
 */
export function decodeEnvelope(bytes: Buffer): Envelope {
  const parsed = envelopeSchema.safeParse(ringJson(bytes, 'envelope'));
  if (!parsed.success) {
    throw fileInvalid('envelope', `invalid in ${firstComplaint(parsed.error)}`, 'an envelope');
  }
  const { id, signatures } = parsed.data;
  if (!encodeEnvelope(id, signatures).equals(bytes)) {
    throw fileInvalid('envelope', 'spelled otherwise', 'canonical JSON');
  }
  return parsed.data;
}
