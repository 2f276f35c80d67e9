// Finds moves that no rollout can finish, because too few holders of their records answer. Pure.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { deviceIdsAt, quorumOf } from '@ringwright/ring/quorum';
import type { Ring } from '@ringwright/ring/ring';
import { asCommands, deviceNames } from '../servers/gone-for-good.ts';
import { removedDevices } from '../servers/ring-targets.ts';
import { isSilent, type MoveRow, type StatusByDevice } from './move-rows.ts';

type Moved = Pick<MoveRow, 'partition' | 'from'>;
type MovedRing = Pick<Ring, 'keyspace' | 'devices' | 'moves' | 'table'>;

/** Further partitions are not named. */
const PARTITIONS_NAMED_MAX = 8;

/**
 * Whether the replaced device answers, or enough others that at least one took part in every
 * quorum.
 */
export function hasSources(
  { table }: Pick<Ring, 'table'>,
  { partition, from }: Moved,
  away: ReadonlySet<number>,
): boolean {
  if (from !== null && !away.has(from)) return true;
  const holders = deviceIdsAt(table, partition);
  const others = holders.filter((device) => device !== from && !away.has(device)).length;
  return others >= holders.length - quorumOf(holders.length) + 1;
}

/** Returns assignments of copying moves that have too few sources now. */
export function stuckMoves(
  { devices, moves, table }: Omit<MovedRing, 'keyspace'>,
  statuses: StatusByDevice,
): ReadonlySet<number | null> {
  const away = silentIn(devices, statuses);
  return new Set(
    moves
      .filter((move) => move.state === 'INITIALIZING' && !hasSources({ table }, move, away))
      .map(({ assignment }) => assignment),
  );
}

/** Returns devices that do not answer, such as removed servers: they are not in `statuses`. */
function silentIn(devices: Ring['devices'], statuses: StatusByDevice): ReadonlySet<number> {
  const silent = devices.filter((one) => one !== null && isSilent(statuses, one.id));
  return new Set(silent.flatMap((one) => one?.id ?? []));
}

export interface StuckAdvice {
  /** The force command, without `ring-builder`. */
  readonly command: string;
  /** The next command: `force` only if the servers that are down will not be started again. */
  readonly next: string;
  readonly text: string;
  /** All devices that do not answer were removed, so they will not be started again. */
  readonly isForGood: boolean;
}

/** Returns stuckAdvice for a head, with its removed devices. */
export function stuckOf(
  { ring, state }: Pick<StoredVersion, 'ring' | 'state'>,
  rows: readonly MoveRow[],
  statuses: StatusByDevice,
): StuckAdvice | null {
  return stuckAdvice({ ring, removed: removedDevices(state) }, rows, statuses);
}

/**
 * Returns null if every move may still finish by itself. `statuses`: includes removed servers that
 * were asked.
 */
export function stuckAdvice(
  { ring, removed }: { readonly ring: MovedRing; readonly removed: readonly number[] },
  rows: readonly MoveRow[],
  statuses: StatusByDevice,
): StuckAdvice | null {
  const { keyspace, devices, table } = ring;
  const assignments = stuckMoves(ring, statuses);
  const open = rows.filter(({ to, stage }) => to !== null && stage !== 'available');
  const stuck = open.filter(
    ({ assignment, stage }) => assignments.has(assignment) && stage !== 'paused',
  );
  if (stuck.length === 0) return null;
  const partitions = [...new Set(stuck.map(({ partition }) => partition))];
  const holders = new Set(partitions.flatMap((partition) => deviceIdsAt(table, partition)));
  const away = [...silentIn(devices, statuses)].filter((id) => holders.has(id));
  const which =
    stuck.length === ring.moves.length
      ? 'all'
      : partitions.length > PARTITIONS_NAMED_MAX
        ? 'PARTITION'
        : partitions.join(' ');
  const command = `moves ${keyspace} force ${which} --reason TEXT`;
  const text =
    `moves need complete files of ${deviceNames(away)}: start what is down; if it is gone ` +
    `for good, ${asCommands([command, `rollout ${keyspace}`])} continues with the records left ` +
    'and loses the writes that only those devices had';
  const isForGood = away.every((id) => removed.includes(id));
  return { command, text, isForGood, next: isForGood ? command : `moves ${keyspace} list` };
}
