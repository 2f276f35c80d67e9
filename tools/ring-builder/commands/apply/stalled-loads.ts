// Explains why loads make no progress (unreachable servers, full disks, other reasons) and what to
// type. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import { printBytes } from '../../cli/print-bytes.ts';
import { hasNoAccess, isSilent, type MoveRow, type StatusByDevice } from '../../moves/move-rows.ts';
import { stuckOf } from '../../moves/stuck-moves.ts';
import { tokenAdvice } from '../../servers/advice-rows.ts';
import { ifNoRoom } from '../../servers/full-disk.ts';
import { deviceNames, withoutForGood } from '../../servers/gone-for-good.ts';
import { removedDevices } from '../../servers/ring-targets.ts';
import type { Room } from '../../servers/server-status.ts';

/** Further reasons are omitted. */
const REASONS_MAX = 3;

/** Returns ROLLOUT_STALLED for the rows that are neither available nor paused. */
export function stalledLoads(
  { ring, state }: Pick<StoredVersion, 'ring' | 'state'>,
  statuses: StatusByDevice,
  { rows, stallMs }: { readonly rows: readonly MoveRow[]; readonly stallMs: number },
): CodedError {
  const open = rows.filter(({ stage }) => stage !== 'available' && stage !== 'paused');
  const available = rows.filter(({ stage }) => stage === 'available').length;
  const reasons = open.map(
    ({ partition, stage, reason }) =>
      `partition ${partition} ${stage}${reason === '' ? '' : `: ${reason}`}`,
  );
  const disks = fullDisks(open, statuses);
  const why = [
    ...[...disks].map(([id, room]) => diskText(ring, id, room)),
    ...reasons.filter((_, index) => open[index]?.room === undefined),
  ];
  const moves = rows.length;
  const known = `${available} of ${counted(moves, 'move')} available`;
  const stallText = `nothing has changed for ${stallMs / 1_000} s`;
  const message = `${known} and ${stallText}: ${why.slice(0, REASONS_MAX).join('; ')}`;
  return new CodedError('ROLLOUT_STALLED', message, {
    hint: hintFor({ ring, state }, { open, statuses, full: [...disks.keys()] }),
    details: { available, moves, failed: reasons, disks: Object.fromEntries(disks) },
  });
}

/** Returns joiners that do not answer. Removed servers that do not are not in `statuses`. */
function silentOf(open: readonly MoveRow[], statuses: StatusByDevice): number[] {
  const silent = open.flatMap(({ to }) => (to !== null && isSilent(statuses, to) ? to : []));
  return [...new Set(silent)];
}

/**
 * Returns, by device, the largest space that one of its loads needs. The joiner reports it. If its
 * own disk has enough space, it reports the lack of space at its source.
 */
function fullDisks(open: readonly MoveRow[], statuses: StatusByDevice): ReadonlyMap<number, Room> {
  const disks = new Map<number, Room>();
  for (const { from, to, room } of open) {
    if (room === undefined || to === null) continue;
    const isOwn = from === null || freeOn(statuses, to) < room.neededBytes;
    const device = isOwn ? to : from;
    const before = disks.get(device);
    if ((before?.neededBytes ?? 0) < room.neededBytes) disks.set(device, room);
  }
  return disks;
}

function freeOn(statuses: StatusByDevice, device: number): number {
  const status = statuses.get(device);
  return status === undefined || status instanceof Error ? 0 : (status.freeBytes ?? 0);
}

function diskText({ devices }: Ring, id: number, { freeBytes, neededBytes }: Room): string {
  const device = devices[id];
  const server = device === null || device === undefined ? '' : ` (${formatAddress(device)})`;
  const lacking = printBytes(neededBytes - freeBytes);
  return (
    `the disk of d${id}${server} has ${printBytes(freeBytes)} free and needs ` +
    `${printBytes(neededBytes)}, ${lacking} more`
  );
}

function hintFor(
  { ring, state }: Pick<StoredVersion, 'ring' | 'state'>,
  stall: {
    readonly open: readonly MoveRow[];
    readonly statuses: StatusByDevice;
    readonly full: readonly number[];
  },
): string {
  const { keyspace } = ring;
  const { open, statuses, full } = stall;
  const components = state?.components;
  const changed = { ...ring, components };
  const standing = { ring, removed: removedDevices(state), ...(components && { components }) };
  const silent = silentOf(open, statuses);
  const stuck = stuckOf({ ring, state }, open, statuses);
  const refusing = [...statuses].flatMap(([id, status]) => (hasNoAccess(status) ? id : []));
  const hints = [
    ...(refusing.length === 0
      ? []
      : [`${deviceNames(refusing)} refuse this command: ${tokenAdvice.text}`]),
    ...(silent.length === 0
      ? []
      : [
          `start ${deviceNames(silent)} and repeat the command: it continues where it stopped` +
            withoutForGood(standing, silent),
        ]),
    ...(full.length === 0 ? [] : [ifNoRoom(changed, full, deviceNames(full))]),
    ...(stuck === null ? [] : [stuck.text]),
  ];
  if (hints.length > 0) return hints.join('; ');
  return (
    `check that servers run, or pause or cancel stuck moves (ring-builder moves ${keyspace} ` +
    'list); if the devices with the records are gone for good, use ring-builder moves ' +
    `${keyspace} force PARTITION --reason TEXT. Then repeat the command, which continues where it stopped`
  );
}
