// Asks the servers of devices to be added whether they match what was typed.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Device } from '@ringwright/ring/device';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Context, Lines } from '../cli/command.ts';
import { printBytes } from '../cli/print-bytes.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { fanOut } from '../servers/server-connection.ts';
import { isUnreachable, type ServerStatus, serverStatus } from '../servers/server-status.ts';
import { lastPush } from '../versions/last-push.ts';
import { medianClock, requireFit } from './require-fit-newcomers.ts';

/** Short, because these servers may not run yet, and the plan asks them again. */
const TIMEOUT_MS = 1_500;
/** Number of present servers asked for their clocks. */
const CLOCKS_ASKED = 5;
const NAMED_MAX = 4;

type Asked = Pick<Device, 'ip' | 'port' | 'device' | 'key'>;
type StatusOrError = ServerStatus | CodedError;

/**
 * Returns lines on the answers; none before the first push, since servers need not run yet. Throws
 * NEWCOMER_UNFIT, WIRE_VERSION_UNKNOWN, and what readVersion throws.
 */
export async function askNewcomers(
  { rings }: Context,
  ring: string,
  devices: readonly Asked[],
): Promise<Lines> {
  if (lastPush(await readLog(rings, ring)) === null) return [];
  const head = (await readVersion(rings, ring, 'head')).ring;
  const present = ringTargets(head, null).slice(0, CLOCKS_ASKED);
  const [clocks, statuses] = await Promise.all([
    fanOut(present, ({ address }) =>
      resultOrError(serverStatus(address, { timeoutMs: TIMEOUT_MS })),
    ),
    fanOut(devices, statusOf),
  ]);
  const times = clocks.map((status) => (status instanceof CodedError ? null : status));
  const reference = { ring, cluster: head.cluster, nowMs: medianClock(times) };
  for (const [index, device] of devices.entries()) {
    const status = statuses[index];
    if (status === undefined || status instanceof CodedError) continue;
    requireFit(device, status, { ...reference, rename: `name it ${status.device} in the ring` });
  }
  return linesOf(statuses);
}

/**
 * Returns the server's status. If nothing else proves a server with its own certificate, the key
 * that it showed a moment ago counts: its answer is only compared with what was typed. No token is
 * shown to it, because a server that waits for its first ring needs none.
 */
async function statusOf(device: Asked): Promise<StatusOrError> {
  const address = formatAddress(device);
  const found = await resultOrError(serverStatus(address, { timeoutMs: TIMEOUT_MS }));
  if (!isUnreachable(found) || device.key === undefined) return found;
  const proof = { by: 'device', keys: new Set([keyIdOf(device.key)]) } as const;
  const proven = await resultOrError(serverStatus(address, { timeoutMs: TIMEOUT_MS, proof }));
  if (isUnreachable(proven)) return found;
  return proven instanceof CodedError && proven.code === 'TOKEN_MISSING'
    ? unvouched(address)
    : proven;
}

function unvouched(address: string): CodedError {
  const message = `${address} requires a token, but its key is not trusted yet, so none was sent`;
  return new CodedError('TOKEN_MISSING', message, {
    hint: 'use --ca or --fingerprint to trust it',
  });
}

function linesOf(statuses: readonly StatusOrError[]): Lines {
  const silent = statuses.filter((status) => status instanceof CodedError);
  const free = statuses.flatMap((status) =>
    status instanceof CodedError ? [] : (status.disk?.freeBytes ?? []),
  );
  const answeredCount = statuses.filter((status) => !isUnreachable(status)).length;
  const answered = `${answeredCount} of ${counted(statuses.length, 'new server')} answered`;
  return [
    free.length === 0
      ? answered
      : `${answered}; each has at least ${printBytes(Math.min(...free))} free`,
    ...silent.slice(0, NAMED_MAX).map(({ message, hint }) => `${message}${hint && `; ${hint}`}`),
    silent.length > NAMED_MAX && `… and ${silent.length - NAMED_MAX} more`,
    silent.length > 0 && 'plan will ask again',
  ];
}
