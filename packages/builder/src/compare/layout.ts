// Which node holds which part of the circle under a scheme of placement, to compare schemes. Pure.
import { intervalOfHash } from '@ringwright/ring/partitioner/hash-intervals';

/** Nodes of every arc of the circle; the first is the owner. */
export interface Layout {
  /** Last hash of each arc, ascending; null for a scheme without a circle. */
  readonly ends: readonly number[] | null;
  readonly lists: readonly (readonly number[])[];
  /** Returns the index into `lists`. */
  readonly arcOf: (hash: number) => number;
  /** Entries that a server must know to find a key's nodes. */
  readonly entries: number;
}

export interface Scheme {
  readonly name: string;
  /** Whether arcs never change, so that each is a file that moves whole; else stores are read. */
  readonly isFixed: boolean;
  /** Returns the layout after each change of the set of nodes; new nodes are numbered in order. */
  readonly layouts: (steps: readonly (readonly number[])[]) => Layout[];
}

export interface SchemeSettings {
  readonly replicas: number;
  readonly partitions: number;
  /** Tokens per node. */
  readonly tokens: number;
  readonly seed: number;
}

export function layoutOf(ends: readonly number[], lists: Layout['lists'], entries: number): Layout {
  const partitioner = { kind: 'hash-intervals', hash: 'murmur3', partitions: ends.length } as const;
  return { ends, lists, entries, arcOf: intervalOfHash({ ...partitioner, ends }) };
}

/**
 * The textbook walk, one token after the other: returns the index of the first token above the
 * position, or of the first of all. O(tokens), and needs no other data.
 */
export function clockwise(tokens: readonly number[], position: number): number {
  for (let index = 0; index < tokens.length; index += 1) {
    if ((tokens[index] ?? 0) > position) return index;
  }
  return 0;
}

export interface Token {
  readonly position: number;
  readonly node: number;
}

export function byPosition(one: Token, other: Token): number {
  return one.position - other.position;
}
