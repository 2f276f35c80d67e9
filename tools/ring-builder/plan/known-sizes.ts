// Asks the servers of a ring for bytes per partition and free space per device.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import {
  type KnownDisk,
  type KnownSizes,
  withChildren,
} from '@ringwright/builder/analysis/plan-traffic';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import type { BuilderState, PartitionSizes } from '@ringwright/builder/state/builder-state';
import { partitionSizes } from '@ringwright/builder/state/partition-sizes';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../cli/command.ts';
import { MS_PER_HOUR } from '../cli/hours.ts';
import { ringTargets, type Target } from '../servers/ring-targets.ts';
import { fanOut, withHint } from '../servers/server-connection.ts';
import { isUnreachable, type ServerStatus, serverStatus } from '../servers/server-status.ts';
import { lastPush } from '../versions/last-push.ts';
import type { PlanToCommit } from './commit-plan.ts';

/** Short: a plan can do without these figures. */
export const sizesTimeoutMs = 1_500;

export interface ReportedSizes extends KnownSizes {
  /** Largest bytes of values on any holder. They grow and shrink with the records. */
  readonly valueBytes: (partition: number) => number | null;
  /** Requests per second on all holders together; null if none reported them. */
  readonly requestRate: (partition: number) => number | null;
  /** Mean bytes of a partition file; null if no server answered. */
  readonly meanBytes: number | null;
  readonly asked: number;
  readonly answered: number;
  readonly away: readonly Target[];
  /** Whole answers, by address. */
  readonly statuses: ReadonlyMap<string, ServerStatus>;
}

export async function askSizes(ring: string, targets: readonly Target[]): Promise<ReportedSizes> {
  const partitions = new Map<number, number>();
  const values = new Map<number, number>();
  const devices = new Map<number, KnownDisk>();
  const rates = new Map<number, number>();
  const held = new Map<number, ReadonlyMap<number, number>>();
  const options = { sizesOf: ring, timeoutMs: sizesTimeoutMs };
  const statuses = await fanOut(targets, ({ address }) =>
    resultOrError(serverStatus(address, options)),
  );
  // A server that refuses a token is running: a new one has no access document before its first
  // ring.
  const away = targets.filter((_, index) => isUnreachable(statuses[index]));
  statuses.forEach((status, index) => {
    if (status instanceof CodedError) return;
    const sizes = status.sizes ?? [];
    const files = new Map(status.files ?? sizes);
    for (const [partition, rate] of status.rates ?? []) {
      rates.set(partition, rate + (rates.get(partition) ?? 0));
    }
    raise(values, sizes);
    // Recent records are not in the file yet.
    raise(partitions, sizes);
    raise(partitions, files);
    const ringStatus = status.rings.find((one) => one.ring === ring);
    // A server serves one device; it does not answer for others at its address.
    if (ringStatus !== undefined && ringStatus.device !== null) held.set(ringStatus.device, files);
    if (status.disk === undefined) return;
    const { freeBytes: free, totalBytes: total = null } = status.disk;
    for (const id of targets[index]?.devices ?? []) {
      devices.set(id, { bytes: sumOf(files.values()), free, total });
    }
  });
  const silent = new Set(away.flatMap((one) => one.devices));
  return {
    partitionBytes: (partition) => partitions.get(partition) ?? null,
    valueBytes: (partition) => values.get(partition) ?? null,
    deviceBytes: (device) => devices.get(device) ?? null,
    heldBytes: (device, partition) => held.get(device)?.get(partition) ?? 0,
    isAway: (device) => silent.has(device),
    requestRate: (partition) => rates.get(partition) ?? null,
    meanBytes: partitions.size === 0 ? null : sumOf(partitions.values()) / partitions.size,
    asked: targets.length,
    answered: statuses.filter((status) => !(status instanceof CodedError)).length,
    away,
    statuses: new Map(
      targets.flatMap(({ address }, index) => {
        const status = statuses[index];
        const hasStatus = status !== undefined && !(status instanceof CodedError);
        return hasStatus ? [[address, status] as const] : [];
      }),
    ),
  };
}

function raise(to: Map<number, number>, sizes: Iterable<readonly [number, number]>): void {
  for (const [partition, bytes] of sizes) {
    to.set(partition, Math.max(bytes, to.get(partition) ?? 0));
  }
}

function sumOf(all: Iterable<number>): number {
  let sum = 0;
  for (const one of all) sum += one;
  return sum;
}

/** Returns null if nothing is copied, so that no server needs to be asked. */
export async function sizesFor(toCommit: PlanToCommit): Promise<ReportedSizes | null> {
  const { plan, opened, head, direct, state } = toCommit;
  const pushed = lastPush(opened.entries) !== null;
  if (head === null || direct || !pushed || allMoves(plan).length === 0) return null;
  // Includes the joining devices, whose disks take the most.
  const targets = ringTargets({ ...head.ring, devices: state.devices }, state);
  return withChildren(await askSizes(plan.ring, targets), head.ring, state);
}

/** Throws RING_UNKNOWN, and PEER_UNREACHABLE if no server answers. */
export async function measureSizes(
  { rings, nowMs }: Context,
  ring: string,
  swapBudget: number,
): Promise<PartitionSizes> {
  const head = await readVersion(rings, ring, 'head');
  const { valueBytes } = await requireSizes(head.ring, stateOf(head));
  const bytes = Array.from({ length: head.ring.partitions }, (_, id) => valueBytes(id));
  const measuredHour = Math.floor(nowMs() / MS_PER_HOUR);
  return partitionSizes(bytes, {
    measuredHour,
    ...(swapBudget > 0 && { swapBudget }),
  });
}

/** Throws PEER_UNREACHABLE if no server answers, or the error of the first server. */
export async function requireSizes(ring: Ring, state: BuilderState): Promise<ReportedSizes> {
  const targets = ringTargets(ring, state);
  const known = await askSizes(ring.keyspace, targets);
  if (known.answered > 0) return known;
  const hint = `ring-builder servers ${ring.keyspace} shows why`;
  // The first server's own error says more, such as a missing token.
  for (const { address } of targets.slice(0, 1)) {
    await serverStatus(address).catch((error: unknown) => {
      throw withHint(error, hint);
    });
  }
  const noneText = `none of ${counted(known.asked, 'server')} of ${ring.keyspace}`;
  const message = `${noneText} reported the sizes of its partitions`;
  throw new CodedError('PEER_UNREACHABLE', message, {
    hint,
    details: { ring: ring.keyspace, asked: known.asked },
  });
}
