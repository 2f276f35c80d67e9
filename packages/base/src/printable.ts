// Text that is safe to show: characters that control a terminal, or hide or reorder text, become
// escapes. Names, reasons and paths come from files and servers that anybody may write.

/**
 * C0, DEL and C1 (a terminal obeys them), line and paragraph separators, bidirectional controls,
 * and zero-width characters except for the joiners that scripts need.
 */
const deceiving =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Makes one line of text. In a JSON document the escapes stand for the same characters. */
export function printable(text: string): string {
  return text.replace(deceiving, escaped);
}

/** The same for text of several lines: keeps its line feeds only. */
export function printableLines(text: string): string {
  return text.replace(deceiving, (found) => (found === '\n' ? found : escaped(found)));
}

/** Escapes like JSON, by UTF-16 units. */
function escaped(character: string): string {
  let escapes = '';
  for (let at = 0; at < character.length; at += 1) {
    escapes += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}
