// A command in a form that can be typed again: words quoted for a POSIX shell where needed. Pure.

export function quoteCommand(args: readonly string[]): string {
  return args.map(quoteWord).join(' ');
}

export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
