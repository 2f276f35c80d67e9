// How a token is shown with a request. Pure.

/** As RFC 6750 has it. */
export function bearer(token: string | null): Readonly<Record<string, string>> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
