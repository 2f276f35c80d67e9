// A ring against what lies on the disks: what is missing, left over, partial or there twice. Pure.
import { dutyOf } from '@ringwright/ring/duty-of';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';

/** A partition file as its device tells of it. */
export interface DiskFile {
  readonly state: 'filling' | 'ready';
  readonly rows: number;
  readonly bytes: number;
}

/** What one device has: its files by partition. */
export interface DiskListing {
  readonly device: number;
  readonly address: string;
  readonly files: ReadonlyMap<number, DiskFile>;
  /** Why a file that the ring gives to others is still there, by partition. */
  readonly draining: ReadonlyMap<number, string>;
}

export type DiskFindingKind =
  /** No reachable device has a complete file: nothing may be dropped or removed now. */
  | 'no-complete-copy'
  /** The table names the device, and it has no file. */
  | 'absent'
  /** The device has a file that lacks records. */
  | 'partial'
  /** The ring gives the partition to others, and not all of them have it yet. */
  | 'unassigned'
  /** The same, and every slot has its own: one copy more than wanted. */
  | 'duplicated';

export interface DiskFinding {
  readonly kind: DiskFindingKind;
  readonly partition: number;
  /** Null: of no single device. */
  readonly device: number | null;
  readonly address: string;
  readonly bytes: number;
  readonly rows: number;
  readonly why: string;
  /** The one command that is safe to type, without `ring-builder`. */
  readonly command: string;
}

export interface Reconciliation {
  readonly findings: readonly DiskFinding[];
  /** Slots of the table whose devices have answered, and those among them with a complete file. */
  readonly slots: number;
  readonly complete: number;
}

/** Findings by partition, the worst of each first. O(slots). */
export function reconcileRing(ring: Ring, listings: readonly DiskListing[]): Reconciliation {
  const byDevice = new Map(listings.map((listing) => [listing.device, listing]));
  const findings: DiskFinding[] = [];
  let [slots, complete] = [0, 0];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const holders = slotsOf(ring, partition).map(({ device }) => device);
    const answered = holders.filter((device) => byDevice.has(device));
    const ready = answered.filter((id) => fileOf(byDevice, id, partition)?.state === 'ready');
    slots += answered.length;
    complete += ready.length;
    const isWhole = ready.length === holders.length;
    const here: DiskFinding[] = [];
    for (const listing of listings) {
      const finding = findingOf(ring, listing, { partition, isWhole });
      if (finding !== null) here.push(finding);
    }
    if (ready.length === 0 && answered.length > 0) {
      findings.push(noCopy(ring, partition, here));
    }
    findings.push(...here);
  }
  return { findings, slots, complete };
}

function fileOf(
  byDevice: ReadonlyMap<number, DiskListing>,
  device: number,
  partition: number,
): DiskFile | null {
  return byDevice.get(device)?.files.get(partition) ?? null;
}

function findingOf(
  ring: Ring,
  { device, address, files, draining }: DiskListing,
  { partition, isWhole }: { readonly partition: number; readonly isWhole: boolean },
): DiskFinding | null {
  const file = files.get(partition);
  const duty = dutyOf(ring, partition, device);
  const about = { partition, device, address, bytes: file?.bytes ?? 0, rows: file?.rows ?? 0 };
  const { keyspace } = ring;
  if (duty.kind === 'UNLOAD') {
    if (file === undefined) return null;
    const why = draining.get(partition) ?? 'the device has not seen this version yet';
    const kind = isWhole ? 'duplicated' : 'unassigned';
    return { kind, ...about, why, command: `rollout ${keyspace}` };
  }
  if (duty.kind === 'LOAD') {
    if (file === undefined) return null;
    const why = `on its way here, ${duty.move.state}`;
    return { kind: 'partial', ...about, why, command: `moves ${keyspace} list ${partition}` };
  }
  if (file === undefined) {
    const why = 'it opens or refills the file when it has the ring and its peers';
    return { kind: 'absent', ...about, why, command: `push ${keyspace}` };
  }
  if (file.state === 'ready') return null;
  const why = 'it refills from its peers by itself';
  return { kind: 'partial', ...about, why, command: `servers ${keyspace}` };
}

function noCopy({ keyspace }: Ring, partition: number, here: readonly DiskFinding[]): DiskFinding {
  const rest = here.filter(({ rows }) => rows > 0).map(({ device, rows }) => `d${device} ${rows}`);
  const why = `no complete file at any device that answers; rows: ${rest.join(', ') || 'none'}`;
  const nobody = { device: null, address: '', bytes: 0, rows: 0 };
  const command = `trash list ${keyspace}`;
  return { kind: 'no-complete-copy', partition, ...nobody, why, command };
}
