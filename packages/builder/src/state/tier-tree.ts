// The tree root > region > zone > server > device of the devices that may hold slots. Pure.
// Nodes are numbered level by level, so children are contiguous and the leaves come last.
import type { BuilderDevice } from './builder-state.ts';
import { tierKinds } from './tier-name.ts';

/** Names of the levels, by level. */
export const tierNames = ['root', ...tierKinds] as const;
export const LEAF_LEVEL = 4;

export interface TierTree {
  readonly nodes: number;
  /** First leaf node; leaf i is node firstLeaf + i. */
  readonly firstLeaf: number;
  readonly leaves: number;
  /** By node; the root is its own parent. */
  readonly parent: Int32Array;
  readonly level: Uint8Array;
  readonly firstChild: Int32Array;
  readonly childCount: Int32Array;
  /** By leaf. */
  readonly deviceIds: Int32Array;
  readonly weights: Float64Array;
  /** By device id: its leaf, or -1 when it may hold nothing (a hole, removed, weight 0). */
  readonly leafOfDevice: Int32Array;
  /** By id of a replaced device: the leaf of its heir. */
  readonly heirOfDevice: ReadonlyMap<number, number>;
}

/** Builds the tree of the active devices with weight, sorted by region, zone, server and id. */
export function buildTree(devices: readonly (BuilderDevice | null)[]): TierTree {
  const holders = devices
    .filter((device) => device !== null)
    .filter((device) => device.state === 'active' && device.weight > 0)
    .sort(inTreeOrder);
  const names = holders.map((device) => [
    '',
    `${device.region}`,
    `${device.region}/${device.zone}`,
    `${device.region}/${device.zone}/${device.ip}`,
    `${device.id}`,
  ]);
  const parents: number[] = [];
  const levels: number[] = [];
  let above = new Int32Array(holders.length);
  for (let level = 0; level <= LEAF_LEVEL; level += 1) {
    const at = new Int32Array(holders.length);
    let last: string | undefined;
    for (let i = 0; i < holders.length; i += 1) {
      const name = names[i]![level]!;
      if (name !== last) {
        parents.push(level === 0 ? 0 : above[i]!);
        levels.push(level);
        last = name;
      }
      at[i] = parents.length - 1;
    }
    above = at;
  }
  return linkTree(holders, { parents, levels, devices });
}

function linkTree(
  holders: readonly BuilderDevice[],
  links: {
    readonly parents: number[];
    readonly levels: number[];
    readonly devices: readonly (BuilderDevice | null)[];
  },
): TierTree {
  const nodes = links.parents.length;
  const firstLeaf = nodes - holders.length;
  const firstChild = new Int32Array(nodes);
  const childCount = new Int32Array(nodes);
  for (let v = nodes - 1; v > 0; v -= 1) {
    const up = links.parents[v]!;
    firstChild[up] = v;
    childCount[up]! += 1;
  }
  const leafOfDevice = new Int32Array(links.devices.length).fill(-1);
  holders.forEach((device, leaf) => {
    leafOfDevice[device.id] = leaf;
  });
  return {
    nodes,
    firstLeaf,
    leaves: holders.length,
    parent: Int32Array.from(links.parents),
    level: Uint8Array.from(links.levels),
    firstChild,
    childCount,
    deviceIds: Int32Array.from(holders, (device) => device.id),
    weights: Float64Array.from(holders, (device) => device.weight),
    leafOfDevice,
    heirOfDevice: heirs(links.devices, leafOfDevice),
  };
}

function heirs(
  devices: readonly (BuilderDevice | null)[],
  leafOfDevice: Int32Array,
): Map<number, number> {
  const replaced = devices.flatMap((device) => {
    const leaf = leafOfDevice[device?.replacedBy ?? -1] ?? -1;
    return device === null || leaf < 0 ? [] : [[device.id, leaf] as const];
  });
  return new Map(replaced);
}

function inTreeOrder(a: BuilderDevice, b: BuilderDevice): number {
  return a.region - b.region || a.zone - b.zone || compareText(a.ip, b.ip) || a.id - b.id;
}

/** Compares by code unit, not by locale, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the id of any device of a failure domain, from which the domain's name follows. */
export function deviceBelow(tree: TierTree, node: number): number {
  let v = node;
  while (v < tree.firstLeaf) v = tree.firstChild[v]!;
  return tree.deviceIds[v - tree.firstLeaf]!;
}

/** Returns the failure domain (node) of a leaf at a level. */
export function domainAt(tree: TierTree, leaf: number, level: number): number {
  let v = tree.firstLeaf + leaf;
  while (tree.level[v]! > level) v = tree.parent[v]!;
  return v;
}

/** Adds up the leaves' values along the tree. `values` is by node, with its leaf part filled in. */
export function sumUp(tree: TierTree, values: Float64Array | Int32Array): void {
  values.fill(0, 0, tree.firstLeaf);
  for (let v = tree.nodes - 1; v > 0; v -= 1) values[tree.parent[v]!]! += values[v]!;
}
