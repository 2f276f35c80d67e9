// Creates tokens from names, and signed access documents, for tests.
import { createHash } from 'node:crypto';
import {
  type AccessDocument,
  accessPayload,
  type GrantedToken,
} from '@ringwright/access/access-document';
import type { Grant } from '@ringwright/access/grant';
import { newToken, type Token, tokenHash } from '@ringwright/access/token';
import { printSigned } from '@ringwright/ring/trust/signed-document';
import { people, signed, type TestKey } from './signing.ts';

/** Returns the token of this id. Its secret is derived from the id. */
export function testToken(id: string): Token {
  return newToken(id, createHash('sha256').update(`secret of ${id}`).digest());
}

export function granted(
  id: string,
  grants: readonly Grant[],
  expiresMs: number | null = null,
): GrantedToken {
  return { id, hash: tokenHash(testToken(id)), expiresMs, grants: [...grants] };
}

export function testAccess(sketch: Partial<AccessDocument> = {}): AccessDocument {
  const tokens = [...(sketch.tokens ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  const about = { cluster: 'test', epoch: 1, version: 1, previous: null };
  return { ...about, by: 'ada@test', ms: 0, change: 'for a test', ...sketch, tokens };
}

export function signedAccess(
  sketch: Partial<AccessDocument> = {},
  by: readonly TestKey[] = people.ring.slice(0, 1),
): Buffer {
  return Buffer.from(printSigned(signed(accessPayload(testAccess(sketch)), by)));
}
