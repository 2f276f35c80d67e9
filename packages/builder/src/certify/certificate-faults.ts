// Checks the guarantees of a table by definition: the first half of the certificate. Pure.
import type { Finding } from '@ringwright/base/finding';
import { findingsPerKindMax } from '@ringwright/base/limits';
import { boundsOf } from '../placement/targets.ts';
import { deviceBelow, type TierTree, tierNames } from '../state/tier-tree.ts';
import { type CertificateGraph, countLeaf, includes, leavesOf } from './certificate-graph.ts';

interface TableScan {
  readonly faults: readonly Finding[];
  /** Slots of the new table on devices that the partition did not have before. */
  readonly moves: number;
  /** Partitions with another set of devices than before. */
  readonly changed: Int32Array;
}

/** Checks all slots in one pass, and fills the loads of the graph. */
export function scanTables(graph: CertificateGraph): TableScan {
  const { before, after, partitions, loads, tree } = graph;
  const faults = new Map<string, Finding[]>();
  const old = new Int32Array(before.length);
  const held = new Int32Array(after.length);
  const changed: number[] = [];
  let moves = 0;
  for (let partition = 0; partition < partitions; partition += 1) {
    const oldSlots = leavesOf(graph, { table: before, partition }, old);
    const slots = leavesOf(graph, { table: after, partition }, held);
    let fresh = 0;
    for (let slot = 0; slot < slots; slot += 1) {
      const leaf = held[slot]!;
      if (leaf < 0)
        report(faults, 'SLOT_UNPLACED', `partition ${partition} is on a device without share`);
      else if (includes(held, slot, leaf)) {
        report(
          faults,
          'DEVICE_TWICE',
          `partition ${partition} is on device ${tree.deviceIds[leaf]!} twice`,
        );
      }
      if (leaf >= 0) loads[tree.firstLeaf + leaf]! += 1;
      if (leaf < 0 || !includes(old, oldSlots, leaf)) fresh += 1;
    }
    moves += fresh;
    if (fresh > 0 || slots !== oldSlots) changed.push(partition);
    checkBounds(graph, { partition, held, slots }, faults);
  }
  for (let v = tree.nodes - 1; v > 0; v -= 1) loads[tree.parent[v]!]! += loads[v]!;
  checkLoads(graph, faults);
  return { faults: [...faults.values()].flat(), moves, changed: Int32Array.from(changed) };
}

interface PartitionSlots {
  readonly partition: number;
  readonly held: Int32Array;
  readonly slots: number;
}

/** Checks the partition's replicas at every node above its leaves, and at those nodes' siblings. */
function checkBounds(graph: CertificateGraph, at: PartitionSlots, faults: Faults): void {
  const { tree, count } = graph;
  const { low, high } = boundsOf(graph.targets, at.partition);
  for (let slot = 0; slot < at.slots; slot += 1) {
    if (at.held[slot]! >= 0) countLeaf(graph, at.held[slot]!, 1);
  }
  const stack = [0];
  for (let v = stack.pop(); v !== undefined; v = stack.pop()) {
    const first = tree.firstChild[v]!;
    for (let u = first; v < tree.firstLeaf && u < first + tree.childCount[v]!; u += 1) {
      const total = count[u]!;
      if (total < low[u]! || total > high[u]!) {
        const bounds = `${low[u]!} to ${high[u]!}`;
        report(
          faults,
          'BOUNDS_BROKEN',
          `partition ${at.partition} has ${total} replicas in ${nodeName(tree, u)}, not ${bounds}`,
        );
      }
      if (total > 0) stack.push(u);
    }
  }
  for (let slot = 0; slot < at.slots; slot += 1) {
    if (at.held[slot]! >= 0) countLeaf(graph, at.held[slot]!, -1);
  }
}

function checkLoads({ tree, targets, loads }: CertificateGraph, faults: Faults): void {
  for (let v = 1; v < tree.nodes; v += 1) {
    if (loads[v]! >= targets.floor[v]! && loads[v]! <= targets.ceil[v]!) continue;
    const share = targets.exact[v]!.toFixed(3);
    report(
      faults,
      'LOAD_OFF',
      `${nodeName(tree, v)} holds ${loads[v]!} slots, its share is ${share}`,
    );
  }
}

type Faults = Map<string, Finding[]>;

function report(faults: Faults, code: string, message: string): void {
  const list = faults.get(code) ?? [];
  faults.set(code, list);
  if (list.length < findingsPerKindMax) list.push({ code, message });
}

function nodeName(tree: TierTree, node: number): string {
  const device = `device ${deviceBelow(tree, node)}`;
  const isLeaf = node >= tree.firstLeaf;
  return isLeaf ? device : `the ${tierNames[tree.level[node]!]!} of ${device}`;
}
