// A count with its noun, as sentences need it. Pure.

/** `1 move`, `2 moves`, `0 moves`. `many`: where an s at the end is not enough, `slots move`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
