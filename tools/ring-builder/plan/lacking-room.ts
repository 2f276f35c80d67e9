// Finds devices that get more than their disks have space for, and what helps. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { diskReserveBytes } from '@ringwright/base/limits-store';
import {
  type DeviceTraffic,
  neverFits,
  planTraffic,
} from '@ringwright/builder/analysis/plan-traffic';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import { printBytes } from '../cli/print-bytes.ts';
import { lowerWeight } from '../servers/full-disk.ts';
import {
  asCommands,
  type ChangedRing,
  commandsWithout,
  ownersOf,
} from '../servers/gone-for-good.ts';
import type { PlanToCommit } from './commit-plan.ts';
import type { ReportedSizes } from './known-sizes.ts';

export interface LackingRoom {
  readonly device: DeviceTraffic;
  readonly message: string;
  /** What helps, for people, and its first command. */
  readonly remedy: string;
  readonly command: string;
  /** Whether deleting files can make enough space. Then a reason is accepted. */
  readonly mayDo: boolean;
}

/**
 * Returns devices whose disks are known to be too small. `ring`: the head with its moves in flight.
 */
export function lackingRoom(ring: ChangedRing, devices: readonly DeviceTraffic[]): LackingRoom[] {
  return devices.filter(({ fits }) => fits === false).map((device) => lackOf(ring, device));
}

/** Returns the command for a disk that can never be large enough; null if there is none. */
export function roomFirst(lacking: readonly LackingRoom[]): string | null {
  return lacking.find(({ mayDo }) => !mayDo)?.command ?? null;
}

function lackOf(ring: ChangedRing, device: DeviceTraffic): LackingRoom {
  const { id, bytesIn, freeBytes, diskBytes } = device;
  const reserve = printBytes(diskReserveBytes);
  const gets = `d${id} gets ${printBytes(bytesIn)}`;
  const [owner = { ring: ring.keyspace, devices: [id] }] = ownersOf(ring, [id]);
  const lower = lowerWeight(owner);
  if (diskBytes !== null && diskBytes <= diskReserveBytes) {
    const commands = commandsWithout(ring, [id]);
    const message =
      `${gets}, but can take no file: its whole disk has ${printBytes(diskBytes)}, ` +
      `of which ${reserve} must stay free`;
    const remedy = `use a larger disk, or ${asCommands(commands)}`;
    return { device, message, command: commands[0], remedy, mayDo: false };
  }
  if (neverFits(device)) {
    const whole = printBytes(diskBytes ?? 0);
    const message = `${gets}, but its whole disk has ${whole}, of which ${reserve} must stay free`;
    const remedy = `ring-builder ${lower} with a lower weight, or use a larger disk`;
    return { device, message, command: lower, remedy, mayDo: false };
  }
  const message =
    `${gets}, but its disk has ${printBytes(freeBytes ?? 0)} free, of which ${reserve} ` +
    'must stay free; files are copied before old ones are dropped';
  const remedy = `ring-builder ${lower} with a lower weight, or free space on its disk`;
  return { device, message, command: lower, remedy, mayDo: true };
}

/**
 * Returns devices that lack space, for a commit or revert with a reason. Throws DISK_TOO_SMALL
 * without one. Servers that do not answer in time are assumed to have space.
 */
export function requireRoom(
  { plan, head, state }: Pick<PlanToCommit, 'plan' | 'head' | 'state'>,
  sizes: ReportedSizes | null,
  reason: string | null,
): readonly number[] {
  const { ring } = plan;
  const traffic = sizes === null ? null : planTraffic(allMoves(plan), sizes);
  if (head === null || traffic === null) return [];
  const { components } = state;
  const lacking = lackingRoom({ ...head.ring, components }, traffic.devices);
  const [first] = lacking;
  if (first === undefined || reason !== null) return lacking.map(({ device }) => device.id);
  const more = lacking.length === 1 ? '' : `, and ${counted(lacking.length - 1, 'more device')}`;
  const force = lacking.every(({ mayDo }) => mayDo) ? '; or add --overfill REASON' : '';
  throw new CodedError('DISK_TOO_SMALL', `${first.message}${more}`, {
    hint: `${first.remedy}${force}`,
    details: { ring, devices: lacking.map(({ device }) => device) },
  });
}
