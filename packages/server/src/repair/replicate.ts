// Replication in the background: holders compare digests and push what the others lack.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import { getOrMake } from '@ringwright/base/get-or-make';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { RecentView } from '@ringwright/partition/file/recent-rows';
import { slotsOf } from '@ringwright/ring/slots-of';
import { digests } from '@ringwright/wire/replication';
import { type Holding, usableInfo } from '../peers/holdings.ts';
import { quorumFloor } from '../peers/quorum-floor.ts';
import { type ActiveRing, activeDuties } from '../rings/active-ring.ts';
import { compareRecent, isCoveredByPeer, tailRowsFirst } from './compare-holders.ts';
import { type PushPorts, pushRows } from './push-rows.ts';

interface ReplicatePorts extends PushPorts {
  readonly nowMs: () => number;
  /**
   * Called when the file here missed deletions that the others no longer hold: it must be refilled.
   */
  readonly onMissedDeletions: (keyspace: string, partition: number) => Promise<void>;
  readonly onPushed: (rows: number) => void;
  readonly onError: (device: number, error: unknown) => void;
}

/** Number of rounds in which every partition is checked once, even if nothing has touched it. */
const SWEEP_ROUNDS = 64;
/** Checking the sums of so many takes some 10 ms of a turn; 4,096 took up to 190. */
const PARTITIONS_AT_ONCE = 512;

interface PushTask {
  readonly partition: number;
  readonly mine: PartitionInfo;
  readonly recent: RecentView | null;
  readonly holding: NonNullable<Holding>;
}

/** Partitions shared with a peer under one ring. */
interface SharedPartitions {
  readonly partitions: Set<number>;
  /** The partitions in which the peer may lack records: only these are checked. */
  readonly open: Set<number>;
}

/**
 * What a peer has confirmed of a partition since this process started. It saves asking again while
 * nothing has changed.
 */
interface Confirmed {
  /** Incarnation of the file here, to which `seq` belongs. */
  readonly own: string;
  /** Incarnation of the peer's file. */
  readonly incarnation: string;
  readonly seq: number;
}

/**
 * Repair, hints and catch-up in one mechanism (EventQL's server-to-sequence map). The partition
 * file keeps a watermark per peer device and incarnation: a restored or refilled peer has another
 * incarnation and starts from 0.
 */
export class Replicator {
  readonly #ports: ReplicatePorts;
  readonly #confirmed = new Map<string, Confirmed>();
  #shares = new WeakMap<ActiveRing, ReadonlyMap<number, SharedPartitions>>();
  /** Number of the last round, by keyspace. */
  readonly #rounds = new Map<string, number>();

  constructor(ports: ReplicatePorts) {
    this.#ports = ports;
  }

  /** Forgets what peers have confirmed: one may have restarted, or been wiped or restored. */
  forget(): void {
    this.#confirmed.clear();
    this.#shares = new WeakMap();
  }

  /** Runs one round with all peers of a ring at the same time. */
  async round(active: ActiveRing): Promise<void> {
    const shares = this.#sharesOf(active);
    this.#reopen(active.ring.keyspace, [...shares.values()]);
    await Promise.all(
      [...shares].map(async ([device, { open }]) => {
        try {
          await this.#roundWith(active, device, open);
        } catch (error) {
          if (!(error instanceof CodedError)) throw error;
          this.#ports.onError(device, error);
        }
      }),
    );
  }

  async #roundWith(active: ActiveRing, device: number, candidates: Set<number>): Promise<void> {
    const { keyspace, version } = active.ring;
    const open = [...candidates].filter((partition) => this.#isOpen(active, device, partition));
    candidates.clear();
    for (const partition of open) candidates.add(partition);
    for (let start = 0; start < open.length; start += PARTITIONS_AT_ONCE) {
      const batch = open.slice(start, start + PARTITIONS_AT_ONCE);
      const request = { keyspace, ringVersion: version, partitions: batch, recent: true };
      const { store, nowMs } = this.#ports;
      // Both of one moment, before the peer looks at its own file.
      const ownStates = batch.map((partition) => ({
        mine: usableInfo(store, keyspace, partition),
        recent: store.recent(keyspace, partition),
      }));
      const { holdings } = await this.#ports.devices.call({ active, device }, digests, request);
      for (const [index, partition] of batch.entries()) {
        const holding = holdings[index];
        const { mine = null, recent = null } = ownStates[index] ?? {};
        if (!holding || !mine) continue;
        if (holding.floorMs > mine.barrierMs) {
          // Holders drop tombstones only after all have promised, so this file did not take part,
          // unless it promised meanwhile or the peer is wrong.
          const floorMs = await quorumFloor(this.#ports.devices, { active, partition }, nowMs());
          const info = usableInfo(store, keyspace, partition);
          if (info !== null && floorMs > info.barrierMs) {
            await this.#ports.onMissedDeletions(keyspace, partition);
          }
          continue;
        }
        if (holding.floorMs > mine.floorMs) {
          // Raised elsewhere while this device was offline. It had promised, so it has all that the
          // floor stands for. The next round compares digests without those tombstones.
          await store.raiseFloor(keyspace, partition, holding.floorMs);
          continue;
        }
        if (holding.digest === mine.digest) {
          const { incarnation } = holding;
          const own = mine.incarnation;
          this.#confirm(active, device, { partition, own, incarnation, seq: mine.seq });
        } else if (await store.raiseFloor(keyspace, partition, mine.floorMs)) {
          // A crash had left tombstones below the floor. The peer has dropped them, so it never
          // wants them, and the digests would differ forever.
        } else if (holding.state === 'ready') {
          // A peer that refills takes whole files: pushing single records would cost it the same
          // twice.
          await this.#tryPush(active, device, { partition, mine, recent, holding });
        }
      }
    }
  }

  /** A partition that cannot be pushed (a damaged record, a refusal) does not stop the others. */
  async #tryPush(active: ActiveRing, device: number, task: PushTask): Promise<void> {
    try {
      await this.#push(active, device, task);
    } catch (error) {
      if (!(error instanceof CodedError) || isPeerCode(error.code)) throw error;
      this.#ports.onError(device, error);
    }
  }

  async #push(active: ActiveRing, device: number, task: PushTask): Promise<void> {
    const { store } = this.#ports;
    const nowMs = this.#ports.nowMs();
    const { partition, mine, recent, holding } = task;
    const { incarnation } = holding;
    let since = store.peers.confirmed(
      { keyspace: active.ring.keyspace, partition },
      watermark(device, incarnation),
    );
    const confirm = (seq: number): void =>
      this.#confirm(active, device, { partition, own: mine.incarnation, incarnation, seq });
    if (recent !== null && holding.recent !== undefined) {
      const peerSums = new Map(holding.recent);
      const comparison = compareRecent({ ownSums: recent, seq: mine.seq, peerSums, since, nowMs });
      since = comparison.confirmed;
      if (!comparison.isSuspect) {
        confirm(since);
        return;
      }
    }
    // After a copy or a refill nothing is confirmed yet, but the file came from a holder, so the
    // peer has most of it.
    const target = { active, partition, device, incarnation };
    if (mine.seq - since > tailRowsFirst && (await isCoveredByPeer(this.#ports, target))) {
      confirm(mine.seq);
      return;
    }
    const result = await pushRows(this.#ports, { active, partition, device, since, nowMs });
    if (result.pushed > 0) this.#ports.onPushed(result.pushed);
    confirm(result.confirmed);
  }

  #confirm(
    active: ActiveRing,
    device: number,
    { partition, own, incarnation, seq }: Confirmed & { readonly partition: number },
  ): void {
    const { keyspace } = active.ring;
    const key = `${keyspace}/${partition}/${device}`;
    const known = this.#confirmed.get(key);
    this.#confirmed.set(key, { own, incarnation, seq });
    if (known?.own === own && known.incarnation === incarnation && known.seq >= seq) return;
    // The file may have been replaced while the peer was asked. Then the watermark is not valid for
    // the new file.
    const info = usableInfo(this.#ports.store, keyspace, partition);
    if (info?.incarnation === own) {
      this.#ports.store.peers.confirm({ keyspace, partition }, watermark(device, incarnation), seq);
    }
  }

  /** Whether this device has records that the peer has not confirmed, as far as is known. */
  #isOpen(active: ActiveRing, device: number, partition: number): boolean {
    const { keyspace } = active.ring;
    const info = usableInfo(this.#ports.store, keyspace, partition);
    if (info === null || info.state !== 'ready') return false;
    const known = this.#confirmed.get(`${keyspace}/${partition}/${device}`);
    return known === undefined || known.own !== info.incarnation || known.seq < info.seq;
  }

  /**
   * Opens partitions that were touched, and a part of all others, so that each is checked from time
   * to time in any case.
   */
  #reopen(keyspace: string, shares: readonly SharedPartitions[]): void {
    const touched = this.#ports.store.takeTouched(keyspace);
    const round = (this.#rounds.get(keyspace) ?? 0) + 1;
    this.#rounds.set(keyspace, round);
    for (const { partitions, open } of shares) {
      for (const partition of partitions) {
        if (partition % SWEEP_ROUNDS === round % SWEEP_ROUNDS) open.add(partition);
      }
      for (const partition of touched) if (partitions.has(partition)) open.add(partition);
    }
  }

  /**
   * Returns the partitions shared with each peer under this ring, computed once per ring. At first
   * all of them are open.
   */
  #sharesOf(active: ActiveRing): ReadonlyMap<number, SharedPartitions> {
    return getOrMake(this.#shares, active, () => {
      const shares = findShares(active);
      this.#forgetOthers(active.ring.keyspace, shares);
      return shares;
    });
  }

  /** Drops notes of partitions and devices that the ring no longer shares with this device. */
  #forgetOthers(keyspace: string, shares: ReadonlyMap<number, SharedPartitions>): void {
    for (const name of this.#confirmed.keys()) {
      const [of, partition, device] = name.split('/');
      const isShared = shares.get(Number(device))?.partitions.has(Number(partition)) === true;
      if (of === keyspace && !isShared) this.#confirmed.delete(name);
    }
  }
}

function findShares(active: ActiveRing): Map<number, SharedPartitions> {
  const shares = new Map<number, SharedPartitions>();
  for (const partition of activeDuties(active).serve) {
    // Without joiners: their loads bring them everything, as whole files.
    for (const { device } of slotsOf(active.ring, partition)) {
      if (device === active.self) continue;
      const emptyShare = () => ({ partitions: new Set<number>(), open: new Set<number>() });
      const share = getOrMake<number, SharedPartitions>(shares, device, emptyShare);
      share.partitions.add(partition);
      share.open.add(partition);
    }
  }
  return shares;
}

function watermark(device: number, incarnation: string): string {
  return `d${device}/${incarnation}`;
}
