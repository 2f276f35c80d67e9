// Assertions for bugs: a false one means the program is wrong, never the input.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws AssertionError when `condition` is false. For bugs; bad input gets a CodedError. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Returns `value`, asserting that it is neither null nor undefined. */
export function must<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new AssertionError(message);
  return value;
}

/** The end of an exhaustive switch: the compiler proves it is never reached. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}
