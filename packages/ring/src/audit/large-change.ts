// The change guard: how much of a ring a version moves, and whether that is an ordinary step. Pure.
//
// Five per cent of a small cluster is less than one device: a limit on the plain share would stop
// every join, and operators would learn to override it. Ordinary is instead: one device or server
// joins and takes no more than the largest had, and one leaves or gets less weight and gives away
// its own. These moves are explained; all others together may be five per cent. This stops a weight
// that is too high (the device outgrows the largest), a wrong zone (others swap), two servers added
// or removed at once, and a file of the wrong devices. A device that leaves also lowers the share
// of its zone. So for each four of its slots three others may move: fewer than if a second device
// left. No partition may keep less than a quorum of its slots in place. Removed replicas are no
// moves; at least two, and a quorum of the former ones, must remain.
import { counted } from '@ringwright/base/counted';
import { countThinned, countUnderQuorum, deviceIdsAt } from '../quorum.ts';
import { isRetired } from '../reshape-ring.ts';
import { type Ring, type SlotRow, slotTotal } from '../ring.ts';
import { copyTable } from '../slot-rows.ts';
import { countLeftBehind, countRetired } from './ended-partitions.ts';

export interface ChangeSize {
  readonly slots: number;
  /** Slots that get a device which did not hold them. */
  readonly moved: number;
  /** Moved slots that neither the joining nor the leaving device or server explains. */
  readonly unexplained: number;
  /** Slots that the leaving device or server gives away. */
  readonly given: number;
  /** Partitions of which too few slots stay where they are. */
  readonly underQuorum: number;
  /** Partitions that lose replicas and keep one, or less than a quorum of the former ones. */
  readonly thinned: number;
  readonly replicas: { readonly before: number; readonly after: number };
  /** Partitions whose records are retired, and those whose records are left behind. */
  readonly retired: number;
  readonly leftBehind: number;
  /** The device or server that explains moves: `d7` or `server r1z2 10.0.0.7`. */
  readonly joins: string | null;
  readonly leaves: string | null;
}

/** `removed`: devices that are gone, so that what they hold may be lost (builder state). */
export function changeSize(
  previous: Ring,
  next: Ring,
  removed: ReadonlySet<number> = new Set(),
): ChangeSize {
  const { moves, leaving } = changesBetween(previous, next);
  const groups = groupsOf(previous, next);
  const flows = flowsOf(groups, moves, loadsOf(previous));
  const leaver = largest(flows.map((flow) => ({ flow, count: releasedBy(flow) })));
  const joiner = largest(growths(flows));
  const isIn = (side: typeof joiner, id: number): boolean =>
    side?.flow.group.devices.has(id) ?? false;
  const outside = moves.filter(({ from, to }) => !isIn(leaver, from) || isIn(leaver, to));
  const incoming = outside.filter(({ from, to }) => isIn(joiner, to) && !isIn(joiner, from));
  const explained = Math.min(incoming.length, joiner?.count ?? 0);
  return {
    slots: slotTotal(previous),
    moved: moves.length,
    unexplained: outside.length - explained,
    given: moves.length - outside.length,
    underQuorum: countUnderQuorum(previous, leaving, removed),
    thinned: countThinned(previous, next),
    replicas: { before: previous.replicas, after: next.replicas },
    retired: countRetired(previous, next),
    leftBehind: countLeftBehind(previous, next),
    joins: joiner?.flow.group.name ?? null,
    leaves: leaver?.flow.group.name ?? null,
  };
}

/** Returns a sentence that says why the change is large, or null when it is not. */
export function whyLarge(size: ChangeSize, movedShareMax: number): string | null {
  if (size.underQuorum > 0) {
    return `${counted(size.underQuorum, 'partition')} would keep less than a quorum of all slots`;
  }
  if (size.thinned > 0) {
    const { before, after } = size.replicas;
    const few =
      after < 2 ? 'too few to survive one failure' : 'less than a quorum of what they had';
    return `replicas change from ${before} to ${after}: ${counted(size.thinned, 'partition keeps', 'partitions keep')} ${few}`;
  }
  if (size.retired > 0) {
    return `${counted(size.retired, 'partition is', 'partitions are')} retired with their records`;
  }
  if (size.leftBehind > 0) {
    return `${counted(size.leftBehind, 'partition ends', 'partitions end')}, and no other gets the records`;
  }
  const max = Math.max(Math.floor(size.slots * movedShareMax), Math.floor(0.75 * size.given));
  if (size.unexplained <= max) return null;
  const { moved, unexplained, slots } = size;
  const all = `${moved} of ${counted(slots, 'slot')} move`;
  if (moved === unexplained) return `${all}, at most ${max} allowed`;
  return (
    `${all}, ${moved - unexplained} of them explained by ${explainedBy(size)}; ` +
    `${counted(unexplained, 'is', 'are')} not, at most ${max} allowed`
  );
}

/** Does not say that they join or leave: perhaps only their weights changed. */
function explainedBy({ joins, leaves }: ChangeSize): string {
  return [
    ...(leaves === null ? [] : [`what ${leaves} gives away`]),
    ...(joins === null ? [] : [`${joins} growing to the size of the largest device`]),
  ].join(' and ');
}

interface SlotChange {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

interface Changes {
  /** Slots that go to a device which had none of the partition. */
  readonly moves: readonly SlotChange[];
  /** By partition: the number of holders that hold it no longer. */
  readonly leaving: ReadonlyMap<number, number>;
}

/**
 * Compares the devices that each partition ends up with. So steps of moves in flight, their
 * cancelling, and slots that change rows are no new moves. An additional replica is no move.
 */
function changesBetween(previous: Ring, next: Ring): Changes {
  const [before, after] = [endsOf(previous), endsOf(next)];
  const moves: SlotChange[] = [];
  const leaving = new Map<number, number>();
  const changed = changedPartitions(before, after, next.partitions);
  // Partitions that are split or merged stay where they are, under other ids.
  const isGone = isRetired(next);
  for (let partition = 0; partition < changed.length; partition += 1) {
    if (changed[partition] === 0 || isGone(partition)) continue;
    const [endsBefore, endsAfter] = [endsAt(before, partition), endsAt(after, partition)];
    const holders = deviceIdsAt(previous.table, partition);
    const leavers = endsBefore.filter((id) => holders.includes(id) && !endsAfter.includes(id));
    const gained = endsAfter.filter((id) => !endsBefore.includes(id) && !holders.includes(id));
    if (leavers.length > 0) leaving.set(partition, leavers.length);
    const newSlots = Math.max(0, endsAfter.length - endsBefore.length);
    for (const [index, to] of gained.slice(0, gained.length - newSlots).entries()) {
      moves.push({ partition, from: leavers[index] ?? -1, to });
    }
  }
  return { moves, leaving };
}

/** The table after all moves in flight, and separately the new slots that it then has. */
interface Ends {
  readonly rows: readonly SlotRow[];
  /** By partition: the devices of its new slots. */
  readonly fresh: ReadonlyMap<number, readonly number[]>;
}

function endsOf(ring: Ring): Ends {
  const rows = ring.moves.length === 0 ? ring.table : copyTable(ring.table, ring.devices.length);
  const fresh = new Map<number, number[]>();
  for (const { partition, replica, to } of ring.moves) {
    const row = rows[replica];
    if (row !== undefined && partition < row.length) row[partition] = to;
    else fresh.set(partition, [...(fresh.get(partition) ?? []), to]);
  }
  return { rows, fresh };
}

/** Row by row, since a loop over one typed array is ten times faster than one over many. */
function changedPartitions(before: Ends, after: Ends, partitions: number): Uint8Array {
  const changed = new Uint8Array(partitions);
  for (let replica = 0; replica < Math.max(before.rows.length, after.rows.length); replica += 1) {
    const [rowBefore, rowAfter] = [before.rows[replica], after.rows[replica]];
    markDifferences(rowBefore ?? new Uint16Array(), rowAfter ?? new Uint16Array(), changed);
  }
  for (const partition of [...before.fresh.keys(), ...after.fresh.keys()]) changed[partition] = 1;
  return changed;
}

function markDifferences(before: SlotRow, after: SlotRow, changed: Uint8Array): void {
  const commonLength = Math.min(before.length, after.length);
  for (let partition = 0; partition < commonLength; partition += 1) {
    if (before[partition] !== after[partition]) changed[partition] = 1;
  }
  changed.fill(1, commonLength, Math.max(before.length, after.length));
}

function endsAt({ rows, fresh }: Ends, partition: number): number[] {
  return [...deviceIdsAt(rows, partition), ...(fresh.get(partition) ?? [])];
}

function loadsOf({ table, devices }: Ring): Float64Array {
  const loads = new Float64Array(devices.length);
  for (const row of table) countInto(loads, row);
  return loads;
}

function countInto(loads: Float64Array, row: SlotRow): void {
  for (let partition = 0; partition < row.length; partition += 1) {
    const id = row[partition] ?? 0;
    loads[id] = (loads[id] ?? 0) + 1;
  }
}

interface Group {
  readonly name: string;
  readonly kind: 'device' | 'server';
  readonly devices: ReadonlySet<number>;
  /** Whether its weight fell, or is zero. */
  readonly shrinks: boolean;
}

/** Returns a group for every device and every server: machines join and leave with all devices. */
function groupsOf(previous: Ring, next: Ring): Group[] {
  const members = new Map<string, number[]>();
  for (let id = 0; id < next.devices.length; id += 1) {
    const device = next.devices[id] ?? previous.devices[id] ?? null;
    if (device === null) continue;
    const server = `server r${device.region}z${device.zone} ${device.ip}`;
    members.set(`d${id}`, [id]);
    members.set(server, [...(members.get(server) ?? []), id]);
  }
  const weight = ({ devices }: Ring, ids: readonly number[]): number =>
    ids.reduce((sum, id) => sum + (devices[id]?.weight ?? 0), 0);
  return [...members].map(([name, ids]) => ({
    name,
    kind: name.startsWith('server ') ? 'server' : 'device',
    devices: new Set(ids),
    shrinks: weight(next, ids) === 0 || weight(next, ids) < weight(previous, ids),
  }));
}

interface Flow {
  readonly group: Group;
  readonly before: number;
  /** Slots from outside the group, and to outside. */
  readonly received: number;
  readonly released: number;
}

function flowsOf(
  groups: readonly Group[],
  moves: readonly SlotChange[],
  loads: Float64Array,
): Flow[] {
  const serverOf = new Map<number, Group>();
  for (const group of groups) {
    if (group.kind === 'server') for (const id of group.devices) serverOf.set(id, group);
  }
  const received = new Map<string, number>();
  const released = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string | undefined): void => {
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const { from, to } of moves) {
    add(released, `d${from}`);
    add(received, `d${to}`);
    if (serverOf.get(from) === serverOf.get(to)) continue;
    add(released, serverOf.get(from)?.name);
    add(received, serverOf.get(to)?.name);
  }
  return groups.map((group) => ({
    group,
    before: [...group.devices].reduce((sum, id) => sum + (loads[id] ?? 0), 0),
    received: received.get(group.name) ?? 0,
    released: released.get(group.name) ?? 0,
  }));
}

function releasedBy({ group, released: count }: Flow): number {
  return group.shrinks ? count : 0;
}

/**
 * Returns the growth of each group, up to the largest of its kind before. A server counts no more
 * than its devices do, so that one device with a wrong weight cannot pass for a machine that joins.
 */
function growths(flows: readonly Flow[]): Counted[] {
  const most = { device: 0, server: 0 };
  for (const { group, before } of flows) {
    most[group.kind] = Math.max(most[group.kind], before);
  }
  const growth = ({ group, before, received, released }: Flow): number =>
    Math.max(0, Math.min(received - released, most[group.kind] - before));
  const ofDevice = new Map(flows.map((flow) => [flow.group.name, growth(flow)]));
  return flows.map((flow) => {
    const members = [...flow.group.devices].map((id) => ofDevice.get(`d${id}`) ?? 0);
    const sum = members.reduce((total, one) => total + one, 0);
    return { flow, count: Math.min(growth(flow), sum) };
  });
}

interface Counted {
  readonly flow: Flow;
  readonly count: number;
}

function largest(counted: readonly Counted[]): Counted | null {
  return counted.reduce<Counted | null>(
    (max, one) => (one.count > (max?.count ?? 0) ? one : max),
    null,
  );
}
