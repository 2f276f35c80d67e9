// Answers `why RING DEVICE`: the device's share, its origin, and what the next version changes.

import { counted } from '@ringwright/base/counted';
import { type ComponentPart, componentParts } from '@ringwright/builder/analysis/component-parts';
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { placementProblem } from '@ringwright/builder/placement/placement-problem';
import { denseHead } from '@ringwright/builder/plan/dense-head';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { type TierKind, tierKinds, tierName } from '@ringwright/builder/state/tier-name';
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Answer, Context } from '../../cli/command.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import type { WhyInput } from './why-partition.ts';

const REMOVED = 'removed: it gives away all its slots at once, before all other moves';

export async function whyDevice(input: WhyInput, id: number): Promise<Answer> {
  const { context, opened, head, next } = input;
  const { keyspace, version, moves } = head.ring;
  const state = stateOf(head);
  const part = componentParts(head.ring, state).find((one) => one.state.devices[id]);
  const found = ownShare(part ?? head, part?.state ?? state, id);
  const { device, slots, share, weightShare, tiers } = found;
  const moveCounts = {
    in: moves.filter(({ to }) => to === id).length,
    out: moves.filter(({ from }) => from === id).length,
  };
  const planned =
    next instanceof Error ? undefined : next.plan.devices.find((one) => one.id === id);
  const touched = opened.entries.filter(
    (entry) =>
      makesVersion(entry) &&
      entry.commands.some((command) => new RegExp(`\\bd${id}\\b`).test(command)),
  );
  const partitions = liveCountOf(head.ring.partitioner);
  const rule = part === undefined ? ruleOf({ ...found, partitions }) : partRule(context, part, id);
  const { overload } = state;
  return {
    json: {
      ring: keyspace,
      version,
      device,
      slots,
      share,
      weightShare,
      overload,
      rule,
      tiers,
      inFlight: moveCounts,
      commands: touched.map(({ version: at, user, time, message }) => ({
        version: at,
        user,
        time,
        message,
      })),
      next: planned ?? null,
      refused: next instanceof Error ? next.code : null,
    },
    lines: [
      `${keyspace} version ${version}, ${device === null ? `d${id}` : nameDevice(device)}`,
      `holds ${counted(slots, 'slot')}; its share is ${share.toFixed(2)} (by weight alone ${weightShare.toFixed(2)})`,
      `rule: ${rule}`,
      ...tiers.map(
        (one) =>
          `${one.tier} ${one.name}: share ${one.share.toFixed(2)}, ` +
          `at most ${one.most} of a partition`,
      ),
      `in flight: ${counted(moveCounts.in, 'slot')} to it, ${moveCounts.out} from it`,
      ...touched.map(
        (one) =>
          `named in version ${one.version} (${one.user}, ${one.time.slice(0, 16)}): ${one.message}`,
      ),
      next instanceof Error
        ? `next version: ${next.message}`
        : `next version: ${counted(planned?.slotsIn ?? 0, 'slot')} in, ${planned?.slotsOut ?? 0} out`,
    ],
    next: context.next(`balance ${keyspace}`),
  };
}

interface OwnShare {
  readonly device: BuilderDevice | null;
  readonly slots: number;
  readonly share: number;
  /** The share that its weight alone would give. */
  readonly weightShare: number;
  readonly tiers: readonly {
    readonly tier: TierKind;
    readonly name: string;
    readonly share: number;
    /** The most replicas of one partition. */
    readonly most: number;
  }[];
}

function ownShare(head: Pick<StoredVersion, 'ring'>, state: BuilderState, id: number): OwnShare {
  const { ring } = head;
  const dense = denseHead(ring, state);
  if (dense !== null) return ownShare({ ring: dense.head }, dense.state, id);
  const device = state.devices[id] ?? null;
  const { devices } = ringFigures(ring, state);
  const { slots = 0, share = 0 } = devices.find((one) => one.id === id) ?? {};
  const { tree, shares, targets } = placementProblem(state);
  const leaf = tree.leafOfDevice[id] ?? -1;
  const weightShare = leaf < 0 ? 0 : ring.partitions * (shares.base[leaf] ?? 0);
  const tiers =
    device === null || leaf < 0
      ? []
      : tierKinds.slice(0, -1).map((tier, index) => {
          let v = tree.firstLeaf + leaf;
          while ((tree.level[v] ?? 0) > index + 1) v = tree.parent[v] ?? 0;
          const most = targets.high[v] ?? 0;
          return { tier, name: tierName(device, tier), share: targets.exact[v] ?? 0, most };
        });
  return { device, slots, share, weightShare, tiers };
}

function ruleOf(found: OwnShare & { readonly partitions: number }): string {
  const { device, slots, share, weightShare, partitions } = found;
  if (device?.hold === 'maintenance') return 'maintenance: it keeps its slots and gets no others';
  if (device?.state === 'removed') return REMOVED;
  if (share === 0)
    return 'weight 0: it gives away all its slots, one slot per partition and version';
  if (share >= partitions) return 'it holds every partition, the most a device can hold';
  if (Math.abs(slots - share) >= 1) return 'a rebalance will bring it to its share';
  if (share > weightShare + 1e-6) return 'overload: more than its weight, for dispersion';
  if (share < weightShare - 1e-6)
    return 'overload of other devices: less than its weight, for dispersion';
  return 'share by weight, rounded to a whole slot';
}

/** A component may have pins or an overload of its own, so its own `why` explains the share. */
function partRule(context: Context, { component }: ComponentPart, id: number): string {
  const { ring, devices } = component;
  const command = context.next(`why ${ring} d${devices.indexOf(id)}`);
  return `its slots come from component ${ring}: ${command}`;
}
