// Makes the next access document, with one token added or some removed. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { accessTokensMax } from '@ringwright/base/limits-access';
import { sha256 } from '@ringwright/base/sha256';
import { type AccessDocument, accessPayload, type GrantedToken } from './access-document.ts';

export interface AccessChange {
  readonly cluster: string;
  readonly epoch: number;
  readonly by: string;
  readonly ms: number;
  readonly change: string;
}

/** Throws TOKEN_EXISTS, because a name stands for one secret for good, and VALUE_OUT_OF_RANGE. */
export function withToken(
  before: AccessDocument | null,
  token: GrantedToken,
  change: AccessChange,
): AccessDocument {
  const tokens = before?.tokens ?? [];
  if (tokens.some(({ id }) => id === token.id)) {
    throw new CodedError('TOKEN_EXISTS', `token ${token.id} is granted already`, {
      hint: `grant another name, then ring-builder access revoke ${token.id}`,
      details: { token: token.id },
    });
  }
  if (tokens.length >= accessTokensMax) {
    const message = `${tokens.length} tokens are granted; the maximum is ${accessTokensMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, {
      hint: 'revoke those that expired: ring-builder access list',
    });
  }
  return following(before, [...tokens, token], change);
}

/** Throws TOKEN_UNKNOWN. */
export function withoutTokens(
  before: AccessDocument | null,
  ids: readonly string[],
  change: AccessChange,
): AccessDocument {
  const tokens = before?.tokens ?? [];
  const unknown = ids.find((id) => !tokens.some((token) => token.id === id));
  if (unknown !== undefined) {
    throw new CodedError('TOKEN_UNKNOWN', `no token ${unknown} is granted`, {
      hint: 'ring-builder access list',
      details: { token: unknown },
    });
  }
  const remaining = tokens.filter(({ id }) => !ids.includes(id));
  return following(before, remaining, change);
}

/** The same tokens again, for a raised epoch, in which earlier documents are no longer valid. */
export function inEpoch(before: AccessDocument, change: AccessChange): AccessDocument {
  return following(before, before.tokens, change);
}

function following(
  before: AccessDocument | null,
  tokens: readonly GrantedToken[],
  change: AccessChange,
): AccessDocument {
  return {
    ...change,
    version: (before?.version ?? 0) + 1,
    previous: before === null ? null : sha256(accessPayload(before).bytes),
    tokens: tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
