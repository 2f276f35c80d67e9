// The most replicas of one partition each failure domain need hold. Pure.
import { sumUp, type TierTree } from '../state/tier-tree.ts';

/**
 * By node: the least cap with which the replicas of a partition fit, handed down the tree. Like
 * Swift's ceil(replicas / children), yet aware of children with too few devices.
 */
export function dispersionCaps(tree: TierTree, replicas: number): Int32Array {
  const room = new Int32Array(tree.nodes);
  room.fill(1, tree.firstLeaf);
  sumUp(tree, room);
  const caps = new Int32Array(tree.nodes);
  caps[0] = Math.ceil(replicas);
  for (let v = 0; v < tree.firstLeaf; v += 1) {
    const first = tree.firstChild[v]!;
    const end = first + tree.childCount[v]!;
    const wanted = Math.min(caps[v]!, room[v]!);
    let cap = Math.floor(wanted / Math.max(1, end - first));
    while (fits(room, [first, end], cap) < wanted) cap += 1;
    for (let u = first; u < end; u += 1) caps[u] = Math.min(cap, room[u]!);
  }
  return caps;
}

function fits(room: Int32Array, [first, end]: readonly [number, number], cap: number): number {
  let sum = 0;
  for (let u = first; u < end; u += 1) sum += Math.min(cap, room[u]!);
  return sum;
}
