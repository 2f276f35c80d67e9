// The HTTP header that carries a token. Pure.

/** As defined by RFC 6750. */
export function bearer(token: string | null): Readonly<Record<string, string>> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
