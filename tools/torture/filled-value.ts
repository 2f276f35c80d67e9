// What is written: a name that no other value has, and a filler, all of which must come back. Pure.
const SMALL_CHARACTERS = 60;
const LARGE_CHARACTERS = 24_000;

export function filledValue(name: string, isLarge: boolean): string {
  return name + '.'.repeat(isLarge ? LARGE_CHARACTERS : SMALL_CHARACTERS);
}

/** The name of a value whose filler is whole; otherwise all of it, which nobody has written. */
export function withoutFiller(value: string | null): string | null {
  if (value === null) return null;
  const [, name = value, filler = ''] = /^(v\d+ of \S+ )(\.*)$/.exec(value) ?? [];
  return [SMALL_CHARACTERS, LARGE_CHARACTERS].includes(filler.length) ? name : value;
}
