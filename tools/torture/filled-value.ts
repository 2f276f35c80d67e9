// Values of the workload: a unique name and a filler, all of which must come back. Pure.
const SMALL_CHARACTERS = 60;
const LARGE_CHARACTERS = 24_000;

export function filledValue(name: string, isLarge: boolean): string {
  return name + '.'.repeat(isLarge ? LARGE_CHARACTERS : SMALL_CHARACTERS);
}

/**
 * Returns the name of a value with an intact filler, or else the whole value, which was never
 * written.
 */
export function withoutFiller(value: string | null): string | null {
  if (value === null) return null;
  const [, name = value, filler = ''] = /^(v\d+ of \S+ )(\.*)$/.exec(value) ?? [];
  return [SMALL_CHARACTERS, LARGE_CHARACTERS].includes(filler.length) ? name : value;
}
