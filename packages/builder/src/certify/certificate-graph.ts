// The input of the certificate: bounds of the tree, and both tables as leaves. Pure.
// It is written from the definitions: it shares the targets with the builder, but no search.
import type { Table } from '@ringwright/ring/ring';
import type { Targets } from '../placement/targets.ts';
import type { TierTree } from '../state/tier-tree.ts';

export interface CertificateGraph {
  readonly tree: TierTree;
  readonly targets: Targets;
  readonly partitions: number;
  readonly before: Table;
  readonly after: Table;
  /** By node: slots of `after` below it. */
  readonly loads: Int32Array;
  /** By leaf: the potential found so far; never above 0. */
  readonly potential: Int32Array;
  /** By node: upper bound of the potentials below it. Prunes the search. */
  readonly highest: Int32Array;
  /** By leaf: the leaf from which its potential was derived, or -1. */
  readonly cameFrom: Int32Array;
  /** Scratch by node: replicas of the current partition; all 0 between partitions. */
  readonly count: Int32Array;
}

export function certificateGraph(
  tree: TierTree,
  targets: Targets,
  tables: Pick<CertificateGraph, 'before' | 'after'>,
): CertificateGraph {
  return {
    tree,
    targets,
    partitions: tables.after[0]?.length ?? 0,
    ...tables,
    loads: new Int32Array(tree.nodes),
    potential: new Int32Array(tree.leaves),
    highest: new Int32Array(tree.nodes),
    cameFrom: new Int32Array(tree.leaves).fill(-1),
    count: new Int32Array(tree.nodes),
  };
}

/** Writes the leaves of a partition's slots to `into`, -1 without leaf; returns their number. */
export function leavesOf(
  { tree }: CertificateGraph,
  source: { readonly table: Table; readonly partition: number },
  into: Int32Array,
): number {
  let slots = 0;
  for (const row of source.table) {
    if (source.partition >= row.length) continue;
    into[slots] = tree.leafOfDevice[row[source.partition]!] ?? -1;
    slots += 1;
  }
  return slots;
}

export function includes(list: Int32Array, length: number, leaf: number): boolean {
  for (let i = 0; i < length; i += 1) if (list[i] === leaf) return true;
  return false;
}

/** Adds `by` to the replica counts of a leaf and of every node above it. */
export function countLeaf({ tree, count }: CertificateGraph, leaf: number, by: 1 | -1): void {
  for (let v = tree.firstLeaf + leaf; ; v = tree.parent[v]!) {
    count[v]! += by;
    if (v === 0) return;
  }
}
