// Schemes that keep a table of equal parts: one like Swift's builder, and Ringwright's builder.
// Pure.

import { type Random, seededRandom } from '@ringwright/base/random';
import { equalEnd } from '@ringwright/ring/partitioner/hash-ends';
import type { Ring } from '@ringwright/ring/ring';
import { shuffle } from '../placement/shuffle.ts';
import { preferenceList } from '../placement/walk-placement.ts';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { Change } from '../state/change.ts';
import { createState } from '../state/create-state.ts';
import { type Layout, layoutOf, type Scheme, type SchemeSettings } from './layout.ts';

/**
 * Swift's rule without tiers: slots of nodes that left, and random slots of overfull nodes, each go
 * to the emptiest node that holds nothing of the partition.
 */
export function swiftLike({ replicas, partitions, seed }: SchemeSettings): Scheme {
  const layouts = (steps: readonly (readonly number[])[]): Layout[] => {
    const random = seededRandom(seed);
    let table = Array.from({ length: partitions }, () => Array<number>(replicas).fill(-1));
    return steps.map((nodes) => {
      const share = (partitions * replicas) / nodes.length;
      const counts = new Map(nodes.map((node) => [node, 0]));
      for (const node of table.flat()) counts.set(node, (counts.get(node) ?? 0) + 1);
      table = table.map((list) => [...list]);
      for (const partition of shuffle(Int32Array.from(table.keys()), random)) {
        reassign(table[partition]!, { nodes, share, counts });
      }
      return tableLayout(table);
    });
  };
  return { name: 'Swift-like', isFixed: true, layouts };
}

/** Reassigns all slots of nodes that left, or else one slot of a node above its share. */
function reassign(
  list: number[],
  {
    nodes,
    share,
    counts,
  }: {
    readonly nodes: readonly number[];
    readonly share: number;
    readonly counts: Map<number, number>;
  },
): void {
  const countOf = (node: number): number => counts.get(node) ?? 0;
  const removedIndexes = [...list.keys()].filter((at) => !nodes.includes(list[at]!));
  const overfullIndexes = [...list.keys()].filter((at) => countOf(list[at]!) > Math.ceil(share));
  for (const at of removedIndexes.length > 0 ? removedIndexes : overfullIndexes.slice(0, 1)) {
    const others = nodes.filter((node) => !list.includes(node));
    const to = others.reduce((least, node) => (countOf(node) < countOf(least) ? node : least));
    counts.set(list[at]!, countOf(list[at]!) - 1);
    counts.set(to, countOf(to) + 1);
    list[at] = to;
  }
}

/** Every node is a device in a zone of its own, and all weights are equal. */
export function ownBuilder({ replicas, partitions }: SchemeSettings): Scheme {
  const layouts = (steps: readonly (readonly number[])[]): Layout[] => {
    const partitioner = { kind: 'hash-intervals', hash: 'murmur3', partitions } as const;
    const settings = { ring: 'compare', cluster: 'compare', minPartHours: 0, overload: 0 };
    let state = createState({ ...settings, partitioner, replicas });
    let head: Ring | null = null;
    return steps.map((nodes) => {
      const activeIds = state.devices.flatMap((device) =>
        device?.state === 'active' ? [device.id] : [],
      );
      state = applyChanges(state, [
        ...nodes.filter((node) => !activeIds.includes(node)).map(added),
        ...activeIds
          .filter((id) => !nodes.includes(id))
          .map((id): Change => ({ kind: 'remove', id })),
      ]);
      for (let hasMore = true; hasMore; ) {
        const headId = head === null ? null : 'f'.repeat(64);
        const from = { head, headId, state, direct: true };
        const plan = planVersion(from);
        head = nextRing(plan, from);
        hasMore = plan.movesLeft > 0;
      }
      const { table }: Pick<Ring, 'table'> = head!;
      return tableLayout(
        Array.from({ length: partitions }, (_, partition) =>
          table.flatMap((row) => row[partition] ?? []),
        ),
      );
    });
  };
  return { name: 'Ringwright', isFixed: true, layouts };
}

function added(id: number): Change {
  const ip = `10.0.${id >> 8}.${id & 255}`;
  const address = { region: 1, zone: id + 1, ip, port: 6200, device: 'sda' };
  return { kind: 'add', device: { id, ...address, weight: 1, meta: '' } };
}

function tableLayout(table: readonly (readonly number[])[]): Layout {
  const ends = table.map((_, index) => equalEnd(index, table.length));
  return layoutOf(ends, table, table.flat().length);
}

/** A new node takes tokens from the fullest nodes. A leaving node's tokens go to the emptiest. */
export function quotaTokens({ replicas, partitions, seed }: SchemeSettings): Scheme {
  const ends = Array.from({ length: partitions }, (_, index) => equalEnd(index, partitions));
  const layouts = (steps: readonly (readonly number[])[]): Layout[] => {
    const random = seededRandom(seed);
    let owners: readonly number[] = [];
    return steps.map((nodes) => {
      owners =
        owners.length === 0 ? dealt(partitions, nodes, random) : shifted(owners, nodes, random);
      const circle = owners.map((node, index) => ({ position: ends[index]!, node }));
      const lists = owners.map((_, index) => preferenceList(circle, index, replicas));
      return layoutOf(ends, lists, partitions);
    });
  };
  return { name: 'Dynamo S3 (Q/S tokens)', isFixed: true, layouts };
}

/** Deals the partitions in rounds: each round has every node once, in a new random order. */
function dealt(partitions: number, nodes: readonly number[], random: Random): number[] {
  const owners: number[] = [];
  while (owners.length < partitions) owners.push(...shuffle(Int32Array.from(nodes), random));
  return owners.slice(0, partitions);
}

/** Reassigns the fewest tokens after which every node has Q/S of them, rounded. */
function shifted(before: readonly number[], nodes: readonly number[], random: Random): number[] {
  const owners = [...before];
  const counts = new Map(nodes.map((node) => [node, 0]));
  for (const node of owners) {
    const count = counts.get(node);
    if (count !== undefined) counts.set(node, count + 1);
  }
  const lacking = new Map(quotasOf(counts, owners.length));
  const free = shuffle(Int32Array.from(owners.keys()), random).filter((index) => {
    const missing = lacking.get(owners[index]!) ?? 0;
    if (missing > 0) lacking.set(owners[index]!, missing - 1);
    return missing === 0;
  });
  const takers = [...lacking].flatMap(([node, missing]) => Array<number>(missing).fill(node));
  for (const [at, node] of shuffle(Int32Array.from(takers), random).entries())
    owners[free[at]!] = node;
  return owners;
}

/** Returns the quota of each node. If the quotient is not whole, the fullest keep one more. */
function quotasOf(counts: ReadonlyMap<number, number>, tokens: number): [number, number][] {
  const least = Math.floor(tokens / counts.size);
  const larger = tokens - least * counts.size;
  const order = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return order.map(([node], at) => [node, at < larger ? least + 1 : least]);
}
