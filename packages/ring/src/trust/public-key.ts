// Public signing keys: ed25519, identified by the SHA-256 of their SPKI bytes. Pure.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '@ringwright/base/sha256';

/** Bytes of an ed25519 key in SPKI form: a fixed prefix of 12, then the key's 32. */
const spkiBytes = 44;

let last: { readonly spki: string; readonly key: KeyObject | null } | null = null;

/**
 * Returns the key of SPKI bytes in base64, or null when they are not an ed25519 key in canonical
 * form. Remembers the last key, because parsing takes 30 us and the receipts of one joiner have the
 * same key.
 */
export function publicKeyOf(spki: string): KeyObject | null {
  if (last?.spki !== spki) last = { spki, key: readKey(spki) };
  return last.key;
}

function readKey(spki: string): KeyObject | null {
  const der = Buffer.from(spki, 'base64');
  if (der.length !== spkiBytes || der.toString('base64') !== spki) return null;
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

/** Cache for keys that sign repeatedly: exporting a key takes 0.1 ms. */
const exported = new WeakMap<KeyObject, string>();

/** Returns SPKI bytes in base64, as in trust documents. Of a private key: its public half. */
export function spkiOf(key: KeyObject): string {
  const known = exported.get(key) ?? exportedSpki(key);
  exported.set(key, known);
  return known;
}

function exportedSpki(key: KeyObject): string {
  const half = key.type === 'private' ? createPublicKey(key) : key;
  return half.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** Returns the key id: SHA-256 (hex) of the SPKI bytes. */
export function keyIdOf(spki: string): string {
  return sha256(Buffer.from(spki, 'base64'));
}
