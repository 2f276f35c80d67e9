// Compares schemes of placement: evenness, data moved by a join and a leave, stores scanned. Pure.
import { murmur3 } from '@ringwright/ring/partitioner/murmur3';
import type { Layout, Scheme, SchemeSettings } from './layout.ts';
import { ownBuilder, quotaTokens, swiftLike } from './table-schemes.ts';
import { equalArcs, modulo, oneToken, randomTokens } from './token-schemes.ts';

export interface Comparison extends SchemeSettings {
  readonly nodes: number;
  /** Number of keys drawn for the count. */
  readonly keys: number;
}

interface ChangeFigures {
  /** Copies of keys that travel, as a fraction of all copies. */
  readonly moved: number;
  /** Nodes whose stores are read key by key to find what travels. */
  readonly scanned: readonly number[];
  /** Whole files that travel instead. */
  readonly files: number;
}

export interface SchemeFigures {
  readonly name: string;
  /** Keys of the fullest node, relative to the mean. */
  readonly evenness: number;
  /** Evenness after a join and a leave. */
  readonly evennessAfter: number;
  readonly join: ChangeFigures;
  readonly leave: ChangeFigures;
  readonly entries: number;
  readonly layout: Layout;
}

export function schemesOf(settings: SchemeSettings): Scheme[] {
  const makers = [modulo, oneToken, randomTokens, equalArcs, quotaTokens, swiftLike, ownBuilder];
  return makers.map((make) => make(settings));
}

/** Compares the schemes: a node joins, then the first node leaves. */
export function compareSchemes(comparison: Comparison): SchemeFigures[] {
  const nodes = Array.from({ length: comparison.nodes }, (_, node) => node);
  const joined = [...nodes, comparison.nodes];
  const steps = [nodes, joined, joined.slice(1)];
  const hashes = hashesOf(comparison);
  return schemesOf(comparison).map((scheme) => {
    const [first, second, third] = scheme.layouts(steps) as [Layout, Layout, Layout];
    return {
      name: scheme.name,
      evenness: evennessOf(first, hashes, nodes),
      evennessAfter: evennessOf(third, hashes, steps[2]!),
      join: changeBetween(first, second, { hashes, scheme }),
      leave: changeBetween(second, third, { hashes, scheme }),
      entries: first.entries,
      layout: first,
    };
  });
}

export function hashesOf({ keys, seed }: Pick<Comparison, 'keys' | 'seed'>): Uint32Array {
  return Uint32Array.from({ length: keys }, (_, at) => murmur3(Buffer.from(`key-${at}`), seed));
}

function evennessOf(layout: Layout, hashes: Uint32Array, nodes: readonly number[]): number {
  const counts = new Map(nodes.map((node) => [node, 0]));
  let copies = 0;
  for (const hash of hashes) {
    for (const node of layout.lists[layout.arcOf(hash)] ?? []) {
      counts.set(node, (counts.get(node) ?? 0) + 1);
      copies += 1;
    }
  }
  return (Math.max(...counts.values()) * nodes.length) / copies;
}

/** Exported for tests with published examples that list arcs. */
export function changeBetween(
  before: Layout,
  after: Layout,
  {
    hashes,
    scheme,
  }: { readonly hashes: Iterable<number>; readonly scheme: { readonly isFixed: boolean } },
): ChangeFigures {
  let [moved, copies] = [0, 0];
  const sources = new Set<number>();
  for (const hash of hashes) {
    const had = before.lists[before.arcOf(hash)] ?? [];
    const has = after.lists[after.arcOf(hash)] ?? [];
    copies += has.length;
    const fresh = has.filter((node) => !had.includes(node));
    moved += fresh.length;
    // When the list only grows or changes, the first node that gives the key up is the source.
    if (fresh.length > 0) sources.add(had.find((node) => !has.includes(node)) ?? had[0]!);
  }
  const files = after.lists.reduce((sum, list, arc) => {
    return sum + list.filter((node) => !before.lists[arc]?.includes(node)).length;
  }, 0);
  const { isFixed } = scheme;
  return {
    moved: moved / copies,
    scanned: isFixed ? [] : [...sources].sort((a, b) => a - b),
    files: isFixed ? files : 0,
  };
}
