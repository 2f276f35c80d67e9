// Signatures over raw bytes: the pre-authentication encoding of DSSE, ed25519. Pure.
import { type KeyObject, sign, verify } from 'node:crypto';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import type { RingSignature } from '../file/ring-envelope.ts';
import { keyIdOf, spkiOf } from './public-key.ts';

/** What is signed: the type keeps a signature of one kind of document from serving another. */
export interface Payload {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** `DSSEv1 LEN TYPE LEN BYTES`: lengths keep two splits of the same bytes apart (dsse v1.0.2). */
export function preAuthenticationEncoding({ type, bytes }: Payload): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${bytes.length} `;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function signPayload(privateKey: KeyObject, payload: Payload): RingSignature {
  // null: ed25519 hashes by itself.
  const sig = sign(null, preAuthenticationEncoding(payload), privateKey).toString('base64');
  return { keyid: keyIdOf(spkiOf(privateKey)), sig };
}

/**
 * The ids of those keys that have signed: distinct keys, however often each did. Signatures of
 * other keys and wrong ones count for nothing; beyond the cap none is looked at.
 */
export function signersOf(
  payload: Payload,
  signatures: readonly RingSignature[],
  keys: ReadonlyMap<string, KeyObject>,
): ReadonlySet<string> {
  const signers = new Set<string>();
  const encoded = preAuthenticationEncoding(payload);
  for (const { keyid, sig } of signatures.slice(0, ringSignatureCountMax)) {
    const key = keys.get(keyid);
    if (key === undefined || signers.has(keyid)) continue;
    if (verify(null, encoded, key, Buffer.from(sig, 'base64'))) signers.add(keyid);
  }
  return signers;
}
