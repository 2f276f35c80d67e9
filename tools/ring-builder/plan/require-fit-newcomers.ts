// Whether the servers of devices that are to join are those that the ring takes them for. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { clockAheadMsMax } from '@ringwright/base/limits';
import { formatAddress } from '@ringwright/base/server-address';
import type { Device } from '@ringwright/ring/device';
import { commonWireVersion } from '@ringwright/wire/check-wire-version';
import type { ServerStatus } from '../servers/server-status.ts';
import type { PlanToCommit } from './commit-plan.ts';
import type { AskedSizes } from './known-sizes.ts';

/**
 * Throws NEWCOMER_UNFIT and WIRE_VERSION_UNKNOWN. Servers that did not answer are not judged: the
 * plan names them. Whether their disks have room: requireRoom.
 */
export function requireFitNewcomers(
  { plan, head, state }: Pick<PlanToCommit, 'plan' | 'head' | 'state'>,
  sizes: AskedSizes | null,
): void {
  if (head === null || sizes === null) return;
  const before = head.ring.devices;
  const isNew = ({ id }: Device): boolean => (before[id] ?? null) === null;
  const newcomers = state.devices.filter((device) => device !== null).filter(isNew);
  const addresses = new Set(newcomers.map(formatAddress));
  const others = [...sizes.statuses].filter(([address]) => !addresses.has(address));
  const times = others.flatMap(([, { nowMs }]) => nowMs ?? []).sort((a, b) => a - b);
  const place = { ring: plan.ring, cluster: head.ring.cluster };
  for (const device of newcomers) {
    const status = sizes.statuses.get(formatAddress(device));
    if (status === undefined) continue;
    requireFit(device, status, { ...place, nowMs: times[times.length >> 1] });
  }
}

interface Place {
  readonly ring: string;
  readonly cluster: string;
  /** The middle one of the clocks of servers that are in the ring. */
  readonly nowMs: number | undefined;
}

function requireFit(device: Device, status: ServerStatus, { ring, cluster, nowMs }: Place): void {
  const address = formatAddress(device);
  const unfit = (what: string, help: string): CodedError =>
    new CodedError('NEWCOMER_UNFIT', `d${device.id} at ${address}: ${what}`, {
      hint: `${help}; or add --yes when that is known`,
      details: { ring, device: device.id, address },
    });
  if (status.wireVersion !== undefined) commonWireVersion(status.wireVersion, address);
  const name = status.device ?? null;
  if (name !== null && name !== device.device) {
    const help = `ring-builder set-device ${ring} d${device.id} --name ${name}`;
    throw unfit(`the ring names it ${device.device}, its server was started as ${name}`, help);
  }
  const clusters = status.trust?.flatMap((root) => root.cluster ?? []) ?? [];
  if (clusters.length > 0 && !clusters.includes(cluster)) {
    const theirs = clusters.join(', ');
    const what = `${ring} is of cluster ${cluster}, its server trusts cluster ${theirs}`;
    throw unfit(what, 'start it with --trust and the trust.json of this folder');
  }
  if (nowMs === undefined || status.nowMs === undefined) return;
  const seconds = Math.round((status.nowMs - nowMs) / 1_000);
  if (Math.abs(seconds) * 1_000 <= clockAheadMsMax) return;
  const way = seconds > 0 ? 'ahead of' : 'behind';
  const most = `at most ${clockAheadMsMax / 1_000} may be`;
  const what = `its clock is ${Math.abs(seconds)} s ${way} those of the ring's servers; ${most}`;
  throw unfit(what, 'set its clock');
}
