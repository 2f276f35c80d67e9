// Rules of partitions with their own bounds: swapped with the common rules, node by node. Pure.
import type { PartitionBounds, Targets } from './targets.ts';

/** What a set of leaves needs and may have, by node. */
export interface NodeRules {
  readonly parent: Int32Array;
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** The replicas it needs, and the sum of its children's needs (leaf: held or not). */
  readonly need: Int32Array;
  readonly sum: Int32Array;
  /** 1 when it or a node below it has a lower bound above 0. */
  readonly bound: Uint8Array;
}

export interface OwnRules {
  readonly bounds: ReadonlyMap<number, PartitionBounds>;
  /** By partition; each is built on first use. */
  readonly patches: Map<number, RulesPatch>;
  /** The partition whose rules are in place, or -1 for the common rules. */
  current: number;
}

const fields = ['low', 'high', 'need', 'sum', 'bound'] as const;

/** The differences from the common rules; while in place, the common values that it replaced. */
interface RulesPatch {
  readonly nodes: Int32Array;
  readonly values: Readonly<Record<(typeof fields)[number], Int32Array>>;
}

export function ownRules({ own }: Targets): OwnRules | null {
  return own === undefined ? null : { bounds: own, patches: new Map(), current: -1 };
}

/** Swaps in the rules of the partition. The rules must hold no leaves. */
export function switchBounds(rules: NodeRules, own: OwnRules, partition: number): void {
  const next = own.bounds.has(partition) ? partition : -1;
  if (next === own.current) return;
  const currentPatch = own.patches.get(own.current);
  if (currentPatch !== undefined) exchange(rules, currentPatch);
  own.current = next;
  const bounds = own.bounds.get(next);
  if (bounds === undefined) return;
  let patch = own.patches.get(next);
  if (patch === undefined) {
    patch = patchOf(rules, bounds);
    own.patches.set(next, patch);
  }
  exchange(rules, patch);
}

/** Returns by node: its need, the sum of its children's needs, and whether its need is above 0. */
export function needsOf(
  parent: Int32Array,
  low: ArrayLike<number>,
): { need: Int32Array; sum: Int32Array; bound: Uint8Array } {
  const need = Int32Array.from(low);
  const sum = new Int32Array(parent.length);
  const bound = new Uint8Array(parent.length);
  need[0] = 0;
  for (let v = parent.length - 1; v > 0; v -= 1) {
    need[v] = Math.max(need[v]!, sum[v]!);
    sum[parent[v]!]! += need[v]!;
    if (need[v]! > 0) bound[v] = 1;
  }
  need[0] = sum[0]!;
  bound[0] = 1;
  return { need, sum, bound };
}

/**
 * Builds the patch of a partition. `rules` are the common rules. The patch covers the nodes with
 * different bounds and, because of their needs, all nodes above them.
 */
function patchOf(rules: NodeRules, bounds: PartitionBounds): RulesPatch {
  const touched = new Set<number>();
  for (const node of bounds.nodes) {
    for (let v = node; !touched.has(v); v = rules.parent[v]!) touched.add(v);
  }
  // Nodes are numbered level by level: from the last to the first, children come before parents.
  const nodes = Int32Array.from(touched).sort().reverse();
  const pick = (from: Int32Array | Uint8Array): Int32Array =>
    Int32Array.from(nodes, (v) => from[v]!);
  const [low, high] = [pick(rules.low), pick(rules.high)];
  const [need, sum, bound] = [pick(rules.need), pick(rules.sum), pick(rules.bound)];
  const indexes = new Map(Array.from(nodes, (v, index) => [v, index]));
  bounds.nodes.forEach((v, i) => {
    low[indexes.get(v)!] = bounds.low[i]!;
    high[indexes.get(v)!] = bounds.high[i]!;
  });
  nodes.forEach((v, i) => {
    const needed = Math.max(low[i]!, sum[i]!);
    if (v > 0) {
      sum[indexes.get(rules.parent[v]!)!]! += needed - need[i]!;
      bound[i] = needed > 0 ? 1 : 0;
    }
    need[i] = needed;
  });
  return { nodes, values: { low, high, need, sum, bound } };
}

function exchange(rules: NodeRules, { nodes, values }: RulesPatch): void {
  for (const name of fields) {
    const [common, own] = [rules[name], values[name]];
    for (let i = 0; i < nodes.length; i += 1) {
      const swapped = common[nodes[i]!]!;
      common[nodes[i]!] = own[i]!;
      own[i] = swapped;
    }
  }
}
