// A command as it can be typed again: words quoted for a POSIX shell where they need it. Pure.

export function quoteCommand(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
