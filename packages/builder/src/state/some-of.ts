// The first items of a list for a message, and the number of the others: `a, b and 3 more`. Pure.

export function someOf(all: readonly (number | string)[], most: number): string {
  const more = all.length > most ? ` and ${all.length - most} more` : '';
  return `${all.slice(0, most).join(', ')}${more}`;
}
