// A count with its noun, as sentences need it. Pure.

/**
 * `1 move`, `2 moves`, `0 moves`. `many`: plural for nouns that need more than an s, such as `slots
 * move`.
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
