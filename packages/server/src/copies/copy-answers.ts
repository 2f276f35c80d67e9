// This device as the source of copies: snapshots of partition files, read in chunks by the joiner.
import { randomBytes } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import {
  copiesOutMax,
  copiesToServerMax,
  copiesToZoneMax,
  copyIdleMsMax,
  copyReadWaitMsMax,
  snapshotsAtOnceMax,
} from '@ringwright/base/limits-copies';
import type { Snapshot } from '@ringwright/partition/copy/snapshot';
import type { Caller } from '@ringwright/wire/call-channel';
import type { copyClose, copyOpen, copyRead } from '@ringwright/wire/copies';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import {
  type Fenced,
  filling,
  notResponsible,
  passFence,
  type ReplicaPorts,
} from '../replica/replica.ts';
import { Cooldown, type CooldownPorts } from './cooldown.ts';
import type { CopyThrottle } from './copy-throttle.ts';
import { countAt, type Locality, localityOf } from './locality.ts';
import type { LoadThrottle } from './throttle-control.ts';

interface CopySourcePorts extends ReplicaPorts, CooldownPorts {
  readonly throttle: CopyThrottle;
}

interface OpenCopy {
  readonly snapshot: Snapshot;
  /** Which file of which device it is to be. */
  readonly asker: string;
  /** Where it goes. */
  readonly locality: Locality | null;
  lastUsedMs: number;
}

/** Snapshots that others are reading. */
export class CopySource {
  readonly #ports: CopySourcePorts;
  readonly #monotonicMs: () => number;
  readonly #open = new Map<string, OpenCopy>();
  /** Where the snapshots go that are being taken. */
  readonly #opening: (Locality | null)[] = [];
  readonly #cooldown: Cooldown;
  readonly #lanes = Array<Promise<void>>(snapshotsAtOnceMax).fill(Promise.resolve());

  constructor(ports: CopySourcePorts) {
    this.#ports = ports;
    this.#monotonicMs = ports.monotonicMs;
    this.#cooldown = new Cooldown(ports);
  }

  /**
   * A snapshot with everything written here under older ring versions: the fence is passed and what
   * was under way
   * has ended before it is taken. Throws MOVE_UNKNOWN, NOT_RESPONSIBLE, PARTITION_FILLING,
   * COPY_BUSY.
   */
  async open(
    request: RequestOf<typeof copyOpen>,
    caller: Caller,
  ): Promise<AnswerOf<typeof copyOpen>> {
    const fenced = await passFence(this.#ports, request, caller);
    checkSource(fenced, request);
    const asker = `${request.keyspace}/${request.partition}/d${request.device}`;
    await this.#releaseFormer(asker);
    const locality = localityOf(fenced.active.ring, request.device);
    const given = [...this.#opening, ...[...this.#open.values()].map((open) => open.locality)];
    checkRoom(given, locality, this.#ports.loadThrottle());
    this.#checkCooledDown();
    this.#opening.push(locality);
    // failpoint: copy-out.before-snapshot
    const snapshot = await this.#lane(() => this.#take(request)).finally(() => {
      this.#opening.splice(this.#opening.indexOf(locality), 1);
    });
    const copy = randomBytes(12).toString('hex');
    const lastUsedMs = this.#monotonicMs();
    this.#open.set(copy, { snapshot, asker, locality, lastUsedMs });
    // failpoint: copy-out.opened
    const { sourceIncarnation, seq, bytes, seal, rows, tombstones, digest } = snapshot.manifest;
    return { copy, sourceIncarnation, seq, bytes, seal, rows, tombstones, digest };
  }

  /** Throws COPY_BUSY with when to ask again. */
  #checkCooledDown(): void {
    const retryAfterMs = Math.ceil(this.#cooldown.leftMs);
    if (retryAfterMs === 0) return;
    const message = `the source serves requests for ${retryAfterMs} ms first`;
    throw new CodedError('COPY_BUSY', message, { details: { retryAfterMs } });
  }

  /** Who asks anew has lost what it had, perhaps with its process: nobody reads that any more. */
  async #releaseFormer(asker: string): Promise<void> {
    for (const [copy, open] of this.#open) {
      if (open.asker === asker) await this.release({ copy });
    }
  }

  /** After those that came before, in one of few lanes. */
  #lane<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.shift() ?? Promise.resolve();
    const mine = lane.then(work);
    this.#lanes.push(mine.then(noMatter, noMatter));
    return mine;
  }

  async #take({ keyspace, partition }: RequestOf<typeof copyOpen>): Promise<Snapshot> {
    const { store, inFlight } = this.#ports;
    await inFlight.drained(keyspace, partition);
    if (store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
    const begunMs = this.#monotonicMs();
    const snapshot = await store.snapshot(keyspace, partition);
    this.#cooldown.after(begunMs);
    return snapshot;
  }

  /** Throws MOVE_UNKNOWN, and COPY_BUSY with when to ask for the same bytes again. */
  async read({
    copy,
    offset,
    length,
  }: RequestOf<typeof copyRead>): Promise<AnswerOf<typeof copyRead>> {
    const open = this.#used(copy);
    const { throttle } = this.#ports;
    const retryAfterMs = Math.ceil(throttle.backlogMs());
    if (retryAfterMs > copyReadWaitMsMax) {
      const message = `chunks for ${retryAfterMs} ms wait at the source for its copy rate`;
      throw new CodedError('COPY_BUSY', message, { details: { retryAfterMs } });
    }
    await throttle.pass(length);
    // failpoint: copy-out.chunk
    return { data: await open.snapshot.readChunk(offset, Math.min(length, transferChunkBytesMax)) };
  }

  #used(copy: string): OpenCopy {
    const open = this.#open.get(copy);
    if (open === undefined) throw new CodedError('MOVE_UNKNOWN', `no copy '${copy}' is open here`);
    open.lastUsedMs = this.#monotonicMs();
    return open;
  }

  async release({ copy }: RequestOf<typeof copyClose>): Promise<AnswerOf<typeof copyClose>> {
    const open = this.#open.get(copy);
    this.#open.delete(copy);
    await open?.snapshot.release();
    return {};
  }

  /** Releases everything: nobody is answered any more. */
  async close(): Promise<void> {
    for (const copy of this.#open.keys()) await this.release({ copy });
  }

  /** Those whose joiners have gone. To be called now and then. */
  async releaseIdle(): Promise<void> {
    const before = this.#monotonicMs() - copyIdleMsMax;
    for (const [copy, { lastUsedMs }] of this.#open) {
      if (lastUsedMs < before) await this.release({ copy });
    }
  }
}

const noMatter = (): void => undefined;

/** Throws COPY_BUSY: the joiner goes on with another partition and asks again. */
function checkRoom(
  given: readonly (Locality | null)[],
  to: Locality | null,
  { loads }: LoadThrottle,
): void {
  const limits = [
    [given.length, Math.min(copiesOutMax, loads ?? copiesOutMax), 'in all'],
    [countAt(given, 'server', to), copiesToServerMax, `to server ${to?.server}`],
    [countAt(given, 'zone', to), copiesToZoneMax, `to zone ${to?.zone}`],
  ] as const;
  for (const [count, max, whom] of limits) {
    if (count < max) continue;
    throw new CodedError('COPY_BUSY', `the source gives ${count} copies ${whom}, the most at once`);
  }
}

/**
 * A copy is given by a device that serves the partition, for a move in flight or to a holder that
 * refills.
 */
function checkSource({ active, duty }: Fenced, request: RequestOf<typeof copyOpen>): void {
  const { partition, assignment } = request;
  if (duty.kind !== 'SERVE') throw notResponsible(active, partition);
  if (assignment === null) return;
  const move = active.ring.moves.find((candidate) => candidate.assignment === assignment);
  if (move?.partition === partition && move.state === 'INITIALIZING') return;
  const what = `assignment ${assignment} of partition ${partition}`;
  const message = `${what} is not INITIALIZING in version ${active.ring.version}`;
  throw new CodedError('MOVE_UNKNOWN', message);
}
