// Who holds which part of the circle under some scheme of placement, to compare schemes. Pure.
import { intervalOfHash } from '@ringwright/ring/partitioner/hash-intervals';

/** Nodes of every arc of the circle, the first of them the owner. */
export interface Layout {
  /** Last hash of each arc, ascending; null where the circle plays no part. */
  readonly ends: readonly number[] | null;
  readonly lists: readonly (readonly number[])[];
  /** Index into `lists`. */
  readonly arcOf: (hash: number) => number;
  /** Entries that a server must know to find a key's nodes. */
  readonly entries: number;
}

export interface Scheme {
  readonly name: string;
  /** Arcs stay as they are, so each is a file that moves whole; else stores are scanned for keys. */
  readonly isFixed: boolean;
  /** The layout after each change of the nodes there are; newcomers are numbered in order. */
  readonly layouts: (steps: readonly (readonly number[])[]) => Layout[];
}

export interface SchemeSettings {
  readonly replicas: number;
  readonly partitions: number;
  /** Of each node. */
  readonly tokens: number;
  readonly seed: number;
}

export function layoutOf(ends: readonly number[], lists: Layout['lists'], entries: number): Layout {
  const partitioner = { kind: 'hash-intervals', hash: 'murmur3', partitions: ends.length } as const;
  return { ends, lists, entries, arcOf: intervalOfHash({ ...partitioner, ends }) };
}

/**
 * The walk of the textbook, one token after the other: index of the first one larger than the
 * position, or of the first of all. O(tokens), and needs nothing but the tokens.
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
