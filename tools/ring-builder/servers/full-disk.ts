// A server whose disk has no room for what comes: what it says of that, and what helps. Pure.
import { diskReserveBytes } from '@ringwright/base/limits-store';
import type { Ring } from '@ringwright/ring/ring';
import { printBytes } from '../cli/print-bytes.ts';
import { asCommands, deviceNames } from './gone-for-good.ts';

type FilledRing = Pick<Ring, 'keyspace' | 'moves' | 'table'>;

export interface Room {
  readonly freeBytes: number;
  readonly neededBytes: number;
}

/** What a server says that it lacks (DiskSpace); null: it says something else. */
export function lackedRoom(reason: string): Room | null {
  const [, free, needed] = /(\d+) bytes are free, (\d+) are needed/.exec(reason) ?? [];
  if (free === undefined) return null;
  return { freeBytes: Number(free), neededBytes: Number(needed) };
}

/**
 * Words that lighten a disk: what is on its way there is cancelled. A device that holds nothing
 * leaves, since no weight is low enough for it; others give away what a lower one leaves them.
 */
export function commandsForRoom(
  { keyspace, moves, table }: FilledRing,
  devices: readonly number[],
): readonly string[] {
  const joining = devices.filter((id) => moves.some(({ to }) => to === id));
  const holds = (id: number): boolean => table.some((row) => row.includes(id));
  const [full, empty] = [devices.filter(holds), devices.filter((id) => !holds(id))];
  const weights = full.map((id) => ` d${id} WEIGHT`).join('');
  return [
    ...(joining.length === 0 ? [] : [`moves ${keyspace} cancel ${deviceNames(joining)}`]),
    ...(full.length === 0 ? [] : [`set-weight ${keyspace}${weights}`]),
    ...(empty.length === 0 ? [] : [`remove ${keyspace} ${deviceNames(empty)}`]),
  ];
}

/** The same to its end, beside the other way there is. `names`: of devices or of servers. */
export function ifNoRoom(ring: FilledRing, devices: readonly number[], names: string): string {
  const { keyspace, moves } = ring;
  const reserve = printBytes(diskReserveBytes);
  const free = `free the disk of ${names}, where ${reserve} are to stay free`;
  const goOn = `${free}, then ring-builder ${againOf(ring)}`;
  if (devices.every((id) => moves.every(({ to }) => to !== id))) return goOn;
  const commands = [
    ...commandsForRoom(ring, devices),
    `commit ${keyspace} -m 'a disk is full'`,
    `rollout ${keyspace}`,
  ];
  return `${goOn}; or do without: ${asCommands(commands)}`;
}

/** Advice on servers that refuse a version for want of room, by their `names`. */
export function fullDisk(
  ring: FilledRing,
  servers: readonly { readonly devices: readonly number[] }[],
  names: string,
): { readonly command: string; readonly text: string } {
  const devices = servers.flatMap((server) => server.devices);
  return { command: againOf(ring), text: ifNoRoom(ring, devices, names) };
}

function againOf({ keyspace, moves }: FilledRing): string {
  return `${moves.length > 0 ? 'rollout' : 'push'} ${keyspace}`;
}
