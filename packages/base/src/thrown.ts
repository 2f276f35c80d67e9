// Message and code of anything that was thrown. Pure.

/** For an AggregateError without a message, that of each error in it. */
export function messageOf(thrown: unknown): string {
  // Node's result of connecting to each address of a name.
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.map(messageOf).join('; ');
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A code of ours, or one of the system, Node or SQLite such as ENOENT; empty if there is none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
