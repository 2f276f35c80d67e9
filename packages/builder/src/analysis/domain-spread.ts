// How replicas are spread over regions, zones and servers, compared with what is allowed. Pure.

import type { Ring } from '@ringwright/ring/ring';
import { placementProblem } from '../placement/placement-problem.ts';
import { denseHead } from '../plan/dense-head.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { type TierKind, tierKinds, tierNamesById } from '../state/tier-name.ts';
import { domainAt } from '../state/tier-tree.ts';
import { type ComponentPart, componentParts, type PartSettings } from './component-parts.ts';

export interface DomainSpread {
  readonly tier: TierKind;
  readonly name: string;
  /** Exact share in slots of the whole ring, and slots held. */
  readonly share: number;
  readonly slots: number;
  /** Least and most replicas of one partition that its share allows; both 0 when it has none. */
  readonly least: number;
  readonly most: number;
  /** Most replicas for perfect dispersion, whatever the shares; null for a domain without share. */
  readonly cap: number | null;
  /** counts[k]: partitions with k replicas here. All partitions count, also with 2.5 replicas. */
  readonly counts: readonly number[];
  /** Slots above `most`, and slots short of `least`: a rebalance corrects both. */
  readonly tooMany: number;
  readonly tooFew: number;
}

type Spread = { -readonly [key in keyof DomainSpread]: DomainSpread[key] } & { counts: number[] };

/**
 * Returns all domains of the existing devices, also of removed and drained ones. In a composite
 * ring, each component's shares follow from its own `settings`. O(slots) per tier.
 */
export function domainSpreads(
  ring: Ring,
  state: BuilderState,
  settings?: readonly (PartSettings | null)[],
): DomainSpread[] {
  const parts = componentParts(ring, state, settings);
  if (parts.length > 0) return composedSpreads(ring, state, parts);
  const dense = denseHead(ring, state);
  if (dense !== null) return domainSpreads(dense.head, dense.state);
  return tierKinds.slice(0, -1).flatMap((tier) => {
    const names = tierNamesById(state.devices, tier);
    const spreads = emptySpreads(state, tier);
    const indexOf = new Map([...spreads.keys()].map((name, index) => [name, index]));
    const domains = Int32Array.from(names, (name) => indexOf.get(name) ?? -1);
    const all = [...spreads.values()];
    countAll(ring, all, domains);
    return all;
  });
}

/** Counts cover all rows together; allowed and wrong slots are sums over the components. */
function composedSpreads(
  ring: Ring,
  { components: _components, ...own }: BuilderState,
  parts: readonly ComponentPart[],
): DomainSpread[] {
  const sums = new Map<string, Allowed>();
  const keyOf = ({ tier, name }: DomainSpread): string => `${tier} ${name}`;
  for (const one of parts.flatMap((part) => domainSpreads(part.ring, part.state))) {
    sums.set(keyOf(one), allowedBy(sums.get(keyOf(one)), one));
  }
  return domainSpreads(ring, own).map((one) => ({ ...one, ...sums.get(keyOf(one)) }));
}

type Allowed = Pick<DomainSpread, 'share' | 'least' | 'most' | 'cap' | 'tooMany' | 'tooFew'>;

function allowedBy(before: Allowed | undefined, one: DomainSpread): Allowed {
  const { share = 0, least = 0, most = 0, cap = null, tooMany = 0, tooFew = 0 } = before ?? {};
  return {
    share: share + one.share,
    least: least + one.least,
    most: most + one.most,
    cap: cap === null ? one.cap : cap + (one.cap ?? 0),
    tooMany: tooMany + one.tooMany,
    tooFew: tooFew + one.tooFew,
  };
}

/** Visits only the domains that hold a replica of the partition: most hold none. */
function countAll(ring: Ring, spreads: readonly Spread[], domains: Int32Array): void {
  const held = new Int32Array(spreads.length);
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    for (const row of ring.table) {
      const domain = domains[row[partition] ?? -1] ?? -1;
      if (domain >= 0) held[domain]! += 1;
    }
    for (const row of ring.table) {
      const domain = domains[row[partition] ?? -1] ?? -1;
      if (domain < 0 || held[domain] === 0) continue;
      count(spreads[domain]!, held[domain]!, 1);
      held[domain] = 0;
    }
  }
  for (const spread of spreads) {
    const touched = spread.counts.reduce((sum, one) => sum + one, 0);
    count(spread, 0, ring.partitions - touched);
  }
}

function count(spread: Spread, held: number, partitions: number): void {
  while (spread.counts.length <= held) spread.counts.push(0);
  spread.counts[held]! += partitions;
  spread.slots += partitions * held;
  spread.tooMany += partitions * Math.max(0, held - spread.most);
  spread.tooFew += partitions * Math.max(0, spread.least - held);
}

/** Returns the domains by name, in tree order; domains that should hold nothing come last. */
function emptySpreads(state: BuilderState, tier: TierKind): Map<string, Spread> {
  const { tree, targets, shares } = placementProblem(state);
  const names = tierNamesById(state.devices, tier);
  const spreads = new Map<string, Spread>();
  const level = tierKinds.indexOf(tier) + 1;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const name = names[tree.deviceIds[leaf]!]!;
    if (spreads.has(name)) continue;
    const v = domainAt(tree, leaf, level);
    spreads.set(name, {
      ...empty(tier, name),
      share: targets.exact[v]!,
      least: targets.low[v]!,
      most: targets.high[v]!,
      cap: shares.caps[v]!,
    });
  }
  for (const name of names) {
    if (name !== '' && !spreads.has(name)) spreads.set(name, empty(tier, name));
  }
  return spreads;
}

function empty(tier: TierKind, name: string): Spread {
  const zeros = { share: 0, slots: 0, least: 0, most: 0, cap: null, tooMany: 0, tooFew: 0 };
  return { tier, name, ...zeros, counts: [] };
}
