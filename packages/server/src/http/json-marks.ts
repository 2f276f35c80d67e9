// How many values a JSON text holds, before any of them is made: what one request may make a parser
// build is bounded by more than its bytes. Pure.

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, OPEN_OBJECT] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];

/**
 * Whether the text has more than `most` marks that begin a list, an object or a further value. In
 * strings they mean nothing. Of a text that is no JSON anything is said.
 */
export function hasMoreMarks(json: Uint8Array, most: number): boolean {
  let marks = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) {
      marks += 1;
      if (marks > most) return true;
    }
  }
  return false;
}
