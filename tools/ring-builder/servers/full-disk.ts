// Advice for a server whose disk has too little free space. Pure.
import { diskReserveBytes } from '@ringwright/base/limits-store';
import type { Ring } from '@ringwright/ring/ring';
import { printBytes } from '../cli/print-bytes.ts';
import type { Advice, AdviceContext, ServerFailure } from './advice-rule.ts';
import {
  asCommands,
  type ChangedRing,
  cancelCommands,
  carriedOut,
  type Owner,
  ownersOf,
  removeCommand,
  resumeCommand,
} from './gone-for-good.ts';

type FilledRing = ChangedRing & Pick<Ring, 'table'>;

/**
 * Returns commands that free a disk. They cancel moves to its devices. Devices that hold slots get
 * a lower weight. Devices that hold nothing are removed, since no weight is low enough for them.
 */
export function commandsForRoom(ring: FilledRing, devices: readonly number[]): readonly string[] {
  const holds = (id: number): boolean => ring.table.some((row) => row.includes(id));
  const [full, empty] = [devices.filter(holds), devices.filter((id) => !holds(id))];
  return [
    ...cancelCommands(ring, devices),
    ...ownersOf(ring, full).map(lowerWeight),
    ...ownersOf(ring, empty).map(removeCommand),
  ];
}

export function lowerWeight({ ring, devices }: Owner): string {
  return `set-weight ${ring}${devices.map((id) => ` d${id} WEIGHT`).join('')}`;
}

/**
 * Returns these commands with the commit and the rollout, beside the alternative of freeing the
 * disk. `names`: of devices or of servers.
 */
export function ifNoRoom(ring: FilledRing, devices: readonly number[], names: string): string {
  const { moves } = ring;
  const reserve = printBytes(diskReserveBytes);
  const free = `free space on the disk of ${names}, where ${reserve} must stay free`;
  const freeText = `${free}, then ring-builder ${resumeCommand(ring)}`;
  if (devices.every((id) => moves.every(({ to }) => to !== id))) return freeText;
  const commands = [
    ...commandsForRoom(ring, devices),
    ...ownersOf(ring, devices).map((owner) => `commit ${owner.ring} -m 'a disk is full'`),
    ...carriedOut(ring),
  ];
  return `${freeText}; or continue without it: ${asCommands(commands)}`;
}

/** Returns advice on servers that refuse a version for lack of space. `names`: their names. */
export function fullDisk(
  { ring, components }: AdviceContext,
  failures: readonly ServerFailure[],
  names: string,
): Advice {
  const devices = failures.flatMap((one) => one.devices);
  return { command: resumeCommand(ring), text: ifNoRoom({ ...ring, components }, devices, names) };
}
