// Dynamo's third strategy: equal parts, with Q/S tokens per node after every join and leave. Pure.

import { type Random, seededRandom } from '@ringwright/base/random';
import { equalEnd } from '@ringwright/ring/partitioner/hash-ends';
import { shuffle } from '../place/shuffle.ts';
import { preferenceList } from '../place/walk-placement.ts';
import { type Layout, layoutOf, type Scheme, type SchemeSettings } from './layout.ts';

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
    const room = lacking.get(owners[index]!) ?? 0;
    if (room > 0) lacking.set(owners[index]!, room - 1);
    return room === 0;
  });
  const takers = [...lacking].flatMap(([node, room]) => Array<number>(room).fill(node));
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
