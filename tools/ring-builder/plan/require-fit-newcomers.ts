// Checks that the servers of joining devices are the ones that the ring expects. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { clockAheadMsMax } from '@ringwright/base/limits';
import { quoteOption } from '@ringwright/base/quote-command';
import { formatAddress } from '@ringwright/base/server-address';
import type { Device } from '@ringwright/ring/device';
import { commonWireVersion } from '@ringwright/wire/check-wire-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import type { ServerStatus } from '../servers/server-status.ts';
import type { PlanToCommit } from './commit-plan.ts';
import type { ReportedSizes } from './known-sizes.ts';

/**
 * Throws NEWCOMER_UNFIT and WIRE_VERSION_UNKNOWN. Servers that did not answer are not judged; the
 * plan names them. Disk space is checked by requireRoom.
 */
export function requireFitNewcomers(
  { plan, head, state }: Pick<PlanToCommit, 'plan' | 'head' | 'state'>,
  sizes: ReportedSizes | null,
): void {
  if (head === null || sizes === null) return;
  const before = head.ring.devices;
  const isNew = ({ id }: Device): boolean => (before[id] ?? null) === null;
  const newcomers = state.devices.filter((device) => device !== null).filter(isNew);
  const addresses = new Set(newcomers.map(formatAddress));
  const others = [...sizes.statuses].filter(([address]) => !addresses.has(address));
  const nowMs = medianClock(others.map(([, status]) => status));
  const reference = { ring: plan.ring, cluster: head.ring.cluster, nowMs };
  for (const device of newcomers) {
    const status = sizes.statuses.get(formatAddress(device));
    if (status === undefined) continue;
    // The server may call itself anything.
    const named = quoteOption('name', status.device ?? '');
    const rename = `ring-builder set-device ${plan.ring} d${device.id} ${named}`;
    requireFit(device, status, { ...reference, rename });
  }
}

/** Returns the median of the servers' clocks; undefined if none reported its time. */
export function medianClock(
  statuses: readonly (Pick<ServerStatus, 'nowMs'> | null)[],
): number | undefined {
  const times = statuses.flatMap((status) => status?.nowMs ?? []).sort((a, b) => a - b);
  return times[times.length >> 1];
}

interface Place {
  readonly ring: string;
  readonly cluster: string;
  /** The median clock of servers in the ring. */
  readonly nowMs: number | undefined;
  /** What helps if the server has another name. */
  readonly rename: string;
}

/** Throws NEWCOMER_UNFIT and WIRE_VERSION_UNKNOWN. */
export function requireFit(
  device: Pick<Device, 'ip' | 'port' | 'device'>,
  status: ServerStatus,
  { ring, cluster, nowMs, rename }: Place,
): void {
  const address = formatAddress(device);
  const unfit = (what: string, help: string): CodedError =>
    new CodedError('NEWCOMER_UNFIT', `${device.device} at ${address}: ${what}`, {
      hint: `${help}; or add --yes if this is intended`,
      details: { ring, device: device.device, address },
    });
  if (status.wireVersion !== undefined) {
    // A newer server speaks this version too: servers are upgraded first, ring-builder last.
    commonWireVersion(Math.min(status.wireVersion, wireVersion), address);
  }
  const name = status.device ?? null;
  if (name !== null && name !== device.device) {
    throw unfit(
      `the ring calls it ${device.device}, but its server was started as ${name}`,
      rename,
    );
  }
  const clusters = status.trust?.flatMap((root) => root.cluster ?? []) ?? [];
  if (clusters.length > 0 && !clusters.includes(cluster)) {
    const trusted = clusters.join(', ');
    const what = `${ring} belongs to cluster ${cluster}, but its server trusts cluster ${trusted}`;
    throw unfit(what, 'start it with --trust and the trust.json of this folder');
  }
  if (nowMs === undefined || status.nowMs === undefined) return;
  const seconds = Math.round((status.nowMs - nowMs) / 1_000);
  if (Math.abs(seconds) * 1_000 <= clockAheadMsMax) return;
  const way = seconds > 0 ? 'ahead of' : 'behind';
  const limit = `at most ${clockAheadMsMax / 1_000} s are allowed`;
  const what = `its clock is ${Math.abs(seconds)} s ${way} those of the ring's servers; ${limit}`;
  throw unfit(what, 'correct its clock');
}
