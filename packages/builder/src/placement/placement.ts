// A table in work: leaves instead of device ids, the slots of a partition side by side. Pure.
import { type Ring, rowLengths, type SlotRow, slotCount, type Table } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import type { TierTree } from '../state/tier-tree.ts';

/** Two bytes hold this many leaves and the value `none`. */
const TWO_BYTE_LEAVES_MAX = 65_535;

export interface Placement {
  readonly partitions: number;
  /** Slots stored per partition: at least the replicas, rounded up. */
  readonly width: number;
  /** Replicas of the partitions before `cut`; partitions from `cut` on have one less. */
  readonly most: number;
  readonly cut: number;
  readonly slots: number;
  /** Leaf of slot (partition * width + replica), or `none`. */
  readonly leaf: Uint16Array | Uint32Array;
  /** Value of a slot without leaf: one past the last leaf. */
  readonly none: number;
  /** The heir's leaf, by slot of a replaced device. */
  readonly heirs?: ReadonlyMap<number, number>;
}

/** Returns the number of slots, and which partitions have how many replicas. */
export function shapeOf({
  partitions,
  replicas,
}: Pick<Ring, 'partitions' | 'replicas'>): Pick<Placement, 'most' | 'cut' | 'slots'> {
  const most = rowLengths(partitions, replicas).length;
  const slots = slotCount(partitions, replicas);
  return { most, cut: slots - partitions * (most - 1), slots };
}

export function emptyPlacement(
  ring: Pick<Ring, 'partitions' | 'replicas'>,
  leaves: number,
  widthMin = 0,
): Placement {
  const { partitions } = ring;
  const shape = shapeOf(ring);
  const width = Math.max(shape.most, widthMin);
  const length = partitions * width;
  const leaf = leaves <= TWO_BYTE_LEAVES_MAX ? new Uint16Array(length) : new Uint32Array(length);
  leaf.fill(leaves);
  return { partitions, width, ...shape, leaf, none: leaves };
}

/**
 * Converts a table to a placement. Slots on devices without leaf, and second slots of a partition
 * on one device, become free.
 */
export function placementOf(
  ring: Pick<Ring, 'partitions' | 'replicas' | 'table'>,
  tree: TierTree,
  widthMin = 0,
): Placement {
  const placement = emptyPlacement(ring, tree.leaves, widthMin);
  const { width, leaf, none } = placement;
  const heirs = new Map<number, number>();
  ring.table.forEach((row, replica) => {
    for (let partition = 0; partition < row.length; partition += 1) {
      const found = tree.leafOfDevice[row[partition]!] ?? -1;
      const start = partition * width;
      if (found < 0) {
        const heir = tree.heirOfDevice.get(row[partition]!);
        if (heir !== undefined) heirs.set(start + replica, heir);
        continue;
      }
      let twin = false;
      for (let slot = start; slot < start + replica; slot += 1) {
        if (leaf[slot] === found) twin = true;
      }
      leaf[start + replica] = twin ? none : found;
    }
  });
  return heirs.size === 0 ? placement : { ...placement, heirs };
}

/** Gives slots of replaced devices to their heirs, unless the heir already holds the partition. */
export function giveToHeirs({ heirs = new Map(), leaf, none, width }: Placement): void {
  for (const [slot, heir] of heirs) {
    const start = slot - (slot % width);
    const isHeld = leaf.subarray(start, start + width).includes(heir);
    if (leaf[slot] === none && !isHeld) leaf[slot] = heir;
  }
}

/** Returns the rows of a ring: device ids by replica and partition. */
export function tableOf(
  placement: Placement,
  tree: TierTree,
  ring: { readonly replicas: number; readonly devices: number },
): Table {
  const { partitions, width, leaf } = placement;
  const table: SlotRow[] = zeroTable(partitions, ring.replicas, ring.devices);
  table.forEach((row, replica) => {
    let slot = replica;
    for (let partition = 0; partition < row.length; partition += 1) {
      row[partition] = tree.deviceIds[leaf[slot]!]!;
      slot += width;
    }
  });
  return table;
}

/** Returns the number of slots held, by node. */
export function loadsOf(placement: Placement, tree: TierTree): Int32Array {
  const perLeaf = new Int32Array(tree.leaves + 1);
  const { leaf } = placement;
  for (let slot = 0; slot < leaf.length; slot += 1) perLeaf[leaf[slot]!]! += 1;
  const loads = new Int32Array(tree.nodes);
  loads.set(perLeaf.subarray(0, tree.leaves), tree.firstLeaf);
  for (let v = tree.nodes - 1; v > 0; v -= 1) loads[tree.parent[v]!]! += loads[v]!;
  return loads;
}
