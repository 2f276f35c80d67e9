// A token: `id.secret`, one word that a program shows. Only a hash of the secret is stored. Pure.
import { tokenSecretBytes } from '@ringwright/base/limits-access';
import { sha256 } from '@ringwright/base/sha256';

export const tokenIdPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** 32 bytes in base64url. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

export interface Token {
  /** Not secret: it appears in documents, lists and logs. */
  readonly id: string;
  readonly secret: string;
}

/** `random`: tokenSecretBytes unpredictable bytes. */
export function newToken(id: string, random: Uint8Array): Token {
  if (random.length !== tokenSecretBytes) throw new RangeError(`${random.length} random bytes`);
  return { id, secret: Buffer.from(random).toString('base64url') };
}

export function tokenText({ id, secret }: Token): string {
  return `${id}.${secret}`;
}

export function parseToken(word: string): Token | null {
  const at = word.indexOf('.');
  const token = { id: word.slice(0, at), secret: word.slice(at + 1) };
  return at > 0 && isToken(token) ? token : null;
}

function isToken({ id, secret }: Token): boolean {
  return tokenIdPattern.test(id) && secretPattern.test(secret);
}

/**
 * SHA-256 (hex). One round and no salt: the secret has 256 random bits, and including the id keeps
 * equal secrets of two tokens apart.
 */
export function tokenHash({ id, secret }: Token): string {
  return sha256(`ringwright-token\0${id}\0${secret}`);
}
