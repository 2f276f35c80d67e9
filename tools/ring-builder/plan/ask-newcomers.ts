// Servers of devices that are about to be added, asked whether they are what was typed.
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';

import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Device } from '@ringwright/ring/device';
import { printBytes } from '../cli/print-bytes.ts';
import type { Context } from '../cli/verb.ts';
import { fanOut } from '../servers/fan-out.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { type ServerStatus, serverStatus } from '../servers/server-status.ts';
import { lastPush } from '../versions/last-push.ts';
import { middleClock, requireFit } from './require-fit-newcomers.ts';

/** Nobody waits long for servers that may not run yet: the plan asks again. */
const TIMEOUT_MS = 1_500;
/** Servers of the ring that are asked for the time. */
const CLOCKS_ASKED = 5;
const NAMED_MAX = 4;

type Asked = Pick<Device, 'ip' | 'port' | 'device'>;

/**
 * What they said, in lines; none before the ring was pushed: then no server need run. Throws
 * NEWCOMER_UNFIT, WIRE_VERSION_UNKNOWN, and what readVersion throws.
 */
export async function askNewcomers(
  { rings }: Context,
  ring: string,
  devices: readonly Asked[],
): Promise<string[]> {
  if (lastPush(await readLog(rings, ring)) === null) return [];
  const head = (await readVersion(rings, ring, 'head')).ring;
  const present = ringTargets(head, null).slice(0, CLOCKS_ASKED);
  const [clocks, statuses] = await Promise.all([
    fanOut(present, ({ address }) => statusOf(address)),
    fanOut(devices, (device) => statusOf(formatAddress(device))),
  ]);
  const about = { ring, cluster: head.cluster, nowMs: middleClock(clocks) };
  for (const [index, device] of devices.entries()) {
    const status = statuses[index] ?? null;
    const rename = `name it ${status?.device} in the ring`;
    if (status !== null) requireFit(device, status, { ...about, rename });
  }
  return linesOf(devices, statuses);
}

function statusOf(address: string): Promise<ServerStatus | null> {
  return serverStatus(address, { timeoutMs: TIMEOUT_MS }).catch(() => null);
}

function linesOf(devices: readonly Asked[], statuses: readonly (ServerStatus | null)[]): string[] {
  const silent = devices.filter((_, index) => (statuses[index] ?? null) === null);
  const free = statuses.flatMap((status) => status?.disk?.freeBytes ?? []);
  const heard = devices.length - silent.length;
  const answered = `${heard} of ${counted(devices.length, 'new server')} answered`;
  const named = silent.slice(0, NAMED_MAX).map(formatAddress).join(', ');
  const more = silent.length > NAMED_MAX ? ` and ${silent.length - NAMED_MAX} more` : '';
  return [
    free.length === 0
      ? answered
      : `${answered}; at least ${printBytes(Math.min(...free))} are free`,
    ...(silent.length > 0 ? [`no answer yet from ${named}${more}: plan asks again`] : []),
  ];
}
