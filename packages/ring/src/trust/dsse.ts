// Signatures over raw bytes: the pre-authentication encoding of DSSE, ed25519. Pure.
import { type KeyObject, sign, verify } from 'node:crypto';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import type { RingSignature } from '../file/ring-envelope.ts';
import { keyIdOf, spkiOf } from './public-key.ts';

/**
 * The signed content. Its type keeps a signature of one kind of document from being accepted for
 * another.
 */
export interface Payload {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Returns `DSSEv1 LEN TYPE LEN BYTES`: the lengths make the encoding unambiguous (dsse v1.0.2). */
export function preAuthenticationEncoding({ type, bytes }: Payload): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${bytes.length} `;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function signPayload(privateKey: KeyObject, payload: Payload): RingSignature {
  // null, because ed25519 has its own hash.
  const sig = sign(null, preAuthenticationEncoding(payload), privateKey).toString('base64');
  return { keyid: keyIdOf(spkiOf(privateKey)), sig };
}

/**
 * Returns the ids of the keys that have signed. Signatures of other keys and invalid ones are
 * ignored. Only the first signature of each key is verified, up to the cap: otherwise 64 invalid
 * signatures would cost as much processor time as 64 documents.
 */
export function signersOf(
  payload: Payload,
  signatures: readonly RingSignature[],
  keys: ReadonlyMap<string, KeyObject>,
): ReadonlySet<string> {
  const signers = new Set<string>();
  const seen = new Set<string>();
  const encoded = preAuthenticationEncoding(payload);
  for (const { keyid, sig } of signatures.slice(0, ringSignatureCountMax)) {
    const key = keys.get(keyid);
    if (key === undefined || seen.has(keyid)) continue;
    seen.add(keyid);
    if (verify(null, encoded, key, Buffer.from(sig, 'base64'))) signers.add(keyid);
  }
  return signers;
}
