// Decides whether some order of the operations on one register explains all their results. Uses the
// search of Wing and Gong with the memoization of Lowe ("Testing for linearizability", 2017). Pure.

export interface RegisterOperation<State> {
  /** For the report. */
  readonly name: string;
  /** From one clock or counter. No two events have the same value. */
  readonly invoked: number;
  /**
   * Infinite if the outcome is unknown: the operation may take effect then or at any later time.
   */
  readonly returned: number;
  /**
   * Returns the state after the operation in this state; null if its result is impossible there.
   */
  readonly apply: (state: State) => { readonly state: State } | null;
}

/**
 * Returns null if the history is linearizable, otherwise the longest explanation found and the
 * operations that cannot follow it. States must differ as texts.
 */
export function unexplained<State extends string | null>(
  history: readonly RegisterOperation<State>[],
  initial: State,
): string | null {
  const operations = [...history].sort((a, b) => a.invoked - b.invoked);
  const seen = new Set<string>();
  let longest: readonly string[] = [];
  const isExplained = (done: bigint, state: State, order: readonly string[]): boolean => {
    if (order.length > longest.length) longest = order;
    const open = operations.flatMap((operation, index) =>
      (done >> BigInt(index)) & 1n ? [] : [{ operation, index }],
    );
    const first = Math.min(...open.map(({ operation }) => operation.returned));
    if (first === Number.POSITIVE_INFINITY) return true;
    const place = `${done} ${state}`;
    if (seen.has(place)) return false;
    seen.add(place);
    return open.some(({ operation, index }) => {
      if (operation.invoked > first) return false;
      const next = operation.apply(state);
      if (next === null) return false;
      return isExplained(done | (1n << BigInt(index)), next.state, [...order, operation.name]);
    });
  };
  if (isExplained(0n, initial, [])) return null;
  const rest = operations.map(({ name }) => name).filter((name) => !longest.includes(name));
  return `explained: ${longest.join('; ')}\nnot explained: ${rest.join('; ')}`;
}
