// Is there an order of the operations on one register that explains what each of them was told?
// The search of Wing and Gong with the memory of Lowe ("Testing for linearizability", 2017). Pure.

export interface RegisterOperation<State> {
  /** For the report. */
  readonly name: string;
  /** Of one clock or counter; no two events have the same. */
  readonly invoked: number;
  /** Infinite when nobody knows whether it was done: it may have been, then or at any time later. */
  readonly returned: number;
  /** The state after it, when it is done in this state; null when its answer cannot be had there. */
  readonly apply: (state: State) => { readonly state: State } | null;
}

/**
 * Null when the history is linearizable; else the longest explanation found, and what then cannot
 * follow. States must differ as texts.
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
