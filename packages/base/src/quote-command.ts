// A command in a form that can be typed again: words quoted for a POSIX shell where needed. Pure.

export function quoteCommand(args: readonly string[]): string {
  return args.map(quoteWord).join(' ');
}

/** Quotes an option and its value, which may begin with `-` like another option. */
export function quoteOption(name: string, value: string): string {
  return `--${name}${value.startsWith('-') ? '=' : ' '}${quoteWord(value)}`;
}

export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
