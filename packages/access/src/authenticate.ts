// Who shows this token? Pure; the time of it tells nothing of the secret.
import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import type { GrantedToken } from './access-document.ts';
import type { Access } from './open-access.ts';
import { type Token, tokenHash } from './token.ts';

/** Compared with where no token of the id is granted: it takes as long, and equals no hash. */
const noHash = Buffer.alloc(32);

/** Null, in the same time, where it is unknown, revoked, expired, or the secret is not right. */
export function authenticate(
  { tokens }: Pick<Access, 'tokens'>,
  token: Token,
  nowMs: number,
): GrantedToken | null {
  const granted = tokens.get(token.id);
  const stored = granted === undefined ? noHash : Buffer.from(granted.hash, 'hex');
  const isRight = timingSafeEqual(stored, Buffer.from(tokenHash(token), 'hex'));
  return granted === undefined || !isRight || hasExpired(granted, nowMs) ? null : granted;
}

export function hasExpired({ expiresMs }: Pick<GrantedToken, 'expiresMs'>, nowMs: number): boolean {
  return expiresMs !== null && nowMs >= expiresMs;
}

/** One sentence for all reasons: a stranger learns none. */
export function tokenRefused(): CodedError {
  return new CodedError('TOKEN_REFUSED', 'the token is not granted here, or no longer', {
    hint: 'ring-builder access list shows which are; access grant makes one',
  });
}
