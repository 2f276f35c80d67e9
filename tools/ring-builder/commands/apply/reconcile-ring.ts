// Compares a ring with the files on the disks: missing, left over, partial or duplicated. Pure.
import { counted } from '@ringwright/base/counted';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { deviceNames } from '../../servers/gone-for-good.ts';

/** A partition file as its device reports it. */
export interface DiskFile {
  /** lost: it lacks records that its device had acknowledged. */
  readonly state: 'filling' | 'ready' | 'lost';
  readonly rows: number;
  readonly bytes: number;
}

/** The files of one device, by partition. */
export interface DiskListing {
  readonly device: number;
  readonly address: string;
  readonly files: ReadonlyMap<number, DiskFile>;
  /** Why a file that the ring gives to other devices is still there, by partition. */
  readonly draining: ReadonlyMap<number, string>;
  /** Why a file cannot be used, by partition. */
  readonly damaged: ReadonlyMap<number, string>;
  /** Damaged files that wait for an operator's confirmation, because there are many at once. */
  readonly quarantines: number;
  /** What the device reports about its refills, by partition; empty text: nothing yet. */
  readonly refills: ReadonlyMap<number, string>;
}

export type DiskFindingKind =
  /** No reachable device has a complete file: nothing may be dropped or removed now. */
  | 'no-complete-copy'
  /** The file was deleted, replaced, truncated or found corrupt: none of its records count. */
  | 'damaged'
  /** The table names the device, but it has no file. */
  | 'absent'
  /** The device has a file that lacks records. */
  | 'partial'
  /** The ring gives the partition to other devices, and not all of them have it yet. */
  | 'unassigned'
  /** As unassigned, but every slot has its complete file: this copy is superfluous. */
  | 'duplicated';

export interface DiskFinding {
  readonly kind: DiskFindingKind;
  readonly partition: number;
  /** Null: the finding concerns no single device. */
  readonly device: number | null;
  readonly address: string;
  readonly bytes: number;
  readonly rows: number;
  readonly why: string;
  /**
   * The next command, without `ring-builder`. It is safe, except for a force, which needs a reason.
   */
  readonly command: string;
}

interface Reconciliation {
  readonly findings: readonly DiskFinding[];
  /** Files of joiners for moves in flight. They are as the ring says. */
  readonly joining: number;
  /** Slots of the table, and those whose device answered and has a complete file. */
  readonly slots: number;
  readonly complete: number;
}

/** Returns findings by partition; for each, a missing complete copy comes first. O(slots). */
export function reconcileRing(ring: Ring, listings: readonly DiskListing[]): Reconciliation {
  const byDevice = new Map(listings.map((listing) => [listing.device, listing]));
  const findings: DiskFinding[] = [];
  let [slots, complete, joining] = [0, 0, 0];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const holders = slotsOf(ring, partition).map(({ device }) => device);
    const answered = holders.filter((device) => byDevice.has(device));
    const ready = answered.filter((id) => fileOf(byDevice, id, partition)?.state === 'ready');
    slots += holders.length;
    complete += ready.length;
    const isWhole = ready.length === holders.length;
    const others = (device: number): Others => {
      const away = holders.filter((id) => id !== device && !byDevice.has(id));
      const rest = answered.filter((id) => id !== device);
      const lost = rest.filter((id) => isLost(byDevice, id, partition));
      const readyCount = ready.filter((id) => id !== device).length;
      const isLostHere = isLost(byDevice, device, partition);
      return { holders: holders.length, ready: readyCount, away, lost, isLostHere };
    };
    const found: DiskFinding[] = [];
    for (const listing of listings) {
      if (isJoining(ring, listing, partition)) joining += 1;
      const finding = findingOf(ring, listing, { partition, isWhole, others });
      if (finding !== null) found.push(finding);
    }
    if (ready.length === 0 && answered.length > 0) {
      findings.push(noCopy(ring, partition, found));
    }
    findings.push(...found);
  }
  return { findings, joining, slots, complete };
}

function isJoining(ring: Ring, { device, files, damaged }: DiskListing, partition: number) {
  if (!files.has(partition) || damaged.has(partition)) return false;
  return dutyOf(ring, partition, device).kind === 'LOAD';
}

function fileOf(
  byDevice: ReadonlyMap<number, DiskListing>,
  device: number,
  partition: number,
): DiskFile | null {
  const listing = byDevice.get(device);
  if (listing?.damaged.has(partition) === true) return null;
  return listing?.files.get(partition) ?? null;
}

function isLost(
  byDevice: ReadonlyMap<number, DiskListing>,
  device: number,
  partition: number,
): boolean {
  const listing = byDevice.get(device);
  return (
    listing?.damaged.has(partition) === true || listing?.files.get(partition)?.state === 'lost'
  );
}

/** The state of a partition on the other devices. */
interface Others {
  /** Slots of the partition, including the device in question. */
  readonly holders: number;
  /** Other devices with a complete file. */
  readonly ready: number;
  /** Other devices that did not answer. */
  readonly away: readonly number[];
  /** Other devices that lost records they had acknowledged. */
  readonly lost: readonly number[];
  readonly isLostHere: boolean;
}

interface Place {
  readonly partition: number;
  /** Every slot has its complete file. */
  readonly isWhole: boolean;
  readonly others: (device: number) => Others;
}

function findingOf(ring: Ring, listing: DiskListing, partitionState: Place): DiskFinding | null {
  const { device, address, files, damaged } = listing;
  const { partition } = partitionState;
  const file = files.get(partition);
  const duty = dutyOf(ring, partition, device);
  const fileFields = { partition, device, address, bytes: file?.bytes ?? 0, rows: file?.rows ?? 0 };
  const { keyspace } = ring;
  const lost = damaged.get(partition);
  if (lost !== undefined) {
    const { why, command } = damageOf(ring, listing, partitionState);
    return { kind: 'damaged', ...fileFields, why: `${lost}; ${why}`, command };
  }
  if (duty.kind === 'UNLOAD') {
    if (file === undefined) return null;
    const why = listing.draining.get(partition) ?? 'the device does not have this version yet';
    const kind = partitionState.isWhole ? 'duplicated' : 'unassigned';
    return { kind, ...fileFields, why, command: `rollout ${keyspace}` };
  }
  if (duty.kind === 'LOAD') return null;
  if (file === undefined) {
    const why = 'the device opens or refills the file once it has the ring and its peers';
    return { kind: 'absent', ...fileFields, why, command: `push ${keyspace}` };
  }
  if (file.state === 'ready') return null;
  return { kind: 'partial', ...fileFields, ...refillOf(ring, listing, partitionState) };
}

interface Outlook {
  readonly why: string;
  readonly command: string;
}

function damageOf(ring: Ring, listing: DiskListing, partitionState: Place): Outlook {
  if (listing.quarantines === 0) return refillOf(ring, listing, partitionState);
  const all = counted(listing.quarantines, 'file');
  const why =
    `${all} damaged at once: the device replaces none until you confirm; ` +
    'if its disk failed only for a moment, restart the server, which reads them again';
  return { why, command: `trash ${ring.keyspace} confirm` };
}

/**
 * Says whether a refill can succeed. It needs all records of N - W + 1 other slots, or the records
 * of every other device, where at least one is complete and N - W + 1 are not lost
 * (refill-sources.ts of the server). With fewer it waits until they return or an operator forces
 * it.
 */
function refillOf({ keyspace }: Ring, listing: DiskListing, partitionState: Place): Outlook {
  const { holders, ready, away, lost, isLostHere } = partitionState.others(listing.device);
  const needed = holders - Math.floor(holders / 2);
  const untouched = holders - lost.length - (isLostHere ? 1 : 0);
  const force = `moves ${keyspace} force ${partitionState.partition} --reason TEXT --yes`;
  if (holders === 1) {
    const why =
      'no other device has its records: bring back the file, also from the trash, ' +
      `or start with an empty file: ring-builder ${force}`;
    return { why, command: `trash ${keyspace} list` };
  }
  if (ready >= needed || (ready > 0 && away.length === 0 && untouched >= needed)) {
    const reason = listing.refills.get(partitionState.partition) ?? '';
    const why = `it is refilling from its peers${reason === '' ? '' : ` (${reason})`}`;
    return { why, command: `servers ${keyspace}` };
  }
  const [rest, start] =
    away.length === 0
      ? [lossText(lost, ready), 'bring back a file, also from the trash']
      : [
          `${deviceNames(away)} ${away.length === 1 ? 'does' : 'do'} not answer`,
          'start what is down',
        ];
  const why =
    `it cannot refill: it needs ${needed} complete files and finds ${ready}, and ${rest}; ` +
    `${start}, or force the refill with the available records, which loses the rest`;
  return { why, command: force };
}

/** Says why the devices that answered are not enough. */
function lossText(lost: readonly number[], ready: number): string {
  if (ready === 0) return 'no other device has one';
  const copies = lost.length === 1 ? 'its copy' : 'their copies';
  return `${deviceNames(lost)} lost ${copies} too: a write that was only in lost copies may be gone`;
}

function noCopy({ keyspace }: Ring, partition: number, found: readonly DiskFinding[]): DiskFinding {
  const rest = found.filter(({ rows }) => rows > 0).map(({ device, rows }) => `d${device} ${rows}`);
  const why = `no device that answered has a complete file; rows: ${rest.join(', ') || 'none'}`;
  const noDevice = { device: null, address: '', bytes: 0, rows: 0 };
  const command = `trash ${keyspace} list`;
  return { kind: 'no-complete-copy', partition, ...noDevice, why, command };
}
