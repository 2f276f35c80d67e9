// Parses JSON from outside; the caller supplies the error for invalid text.

/** Bytes must be UTF-8. Throws what `refuse` makes of the cause. */
export function parseJson(text: string | Uint8Array, refuse: (cause: unknown) => Error): unknown {
  try {
    const whole =
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text);
    return JSON.parse(whole);
  } catch (cause) {
    throw refuse(cause);
  }
}

/** Parses JSON; also null for text that is not JSON. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
