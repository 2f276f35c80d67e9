// This device as the source of copies: files that its helper process gives to that of the joiner,
// and snapshots that a joiner reads in chunks.
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
import { OutgoingCopy } from '@ringwright/partition/copy/outgoing-copy';
import type { PackedPartition } from '@ringwright/partition/copy/packed-partition';
import { Snapshot } from '@ringwright/partition/copy/snapshot';
import type { Caller } from '@ringwright/wire/call-channel';
import type {
  copyChecksum,
  copyClose,
  copyGoOn,
  copyOpen,
  copyRead,
  copyStart,
} from '@ringwright/wire/copies';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import {
  type Fenced,
  filling,
  notResponsible,
  passFence,
  type ReplicaPorts,
} from '../replica/replica.ts';
import type { CopyThrottle } from './copy-throttle.ts';
import { countAt, type Locality, localityOf } from './locality.ts';
import { Cooldown, type CooldownPorts, type LoadThrottle } from './throttle-control.ts';

interface CopySourcePorts extends ReplicaPorts, CooldownPorts {
  readonly throttle: CopyThrottle;
}

interface OpenCopy {
  readonly content: OutgoingCopy | Snapshot;
  /** The partition and the device that it is for. */
  readonly joinerKey: string;
  /** Where the joiner is. */
  readonly locality: Locality | null;
  lastUsedMs: number;
  /** For a OutgoingCopy: bytes sent by the last idle check. */
  sentBytes: number;
}

/** The copies that this device is giving. */
export class CopySource {
  readonly #ports: CopySourcePorts;
  readonly #opened = new Map<string, OpenCopy>();
  /** Locations of the joiners whose copies are being opened. */
  readonly #opening: (Locality | null)[] = [];
  readonly #cooldown: Cooldown;
  readonly #lanes = Array<Promise<void>>(snapshotsAtOnceMax).fill(Promise.resolve());

  constructor(ports: CopySourcePorts) {
    this.#ports = ports;
    this.#cooldown = new Cooldown(ports);
  }

  /**
   * Gives the file with everything written here under older ring versions: before it is described,
   * the fence is passed and the writes under way have ended. Throws MOVE_UNKNOWN, NOT_RESPONSIBLE,
   * PARTITION_FILLING, COPY_BUSY, and USAGE if no helper process can give it. A small partition
   * comes packed if the joiner supports that.
   */
  async start(
    request: RequestOf<typeof copyStart>,
    caller: Caller,
  ): Promise<AnswerOf<typeof copyStart>> {
    const { store } = this.#ports;
    const { copy, content } = await this.#open(request, caller, () =>
      this.#afterWrites(request, () => {
        const packed = request.takesPacked === true ? store.copies.pack(request) : null;
        // Always encrypted. It costs little, and is as safe as the connection of the calls.
        return packed ?? store.copies.give(request);
      }),
    );
    if ('records' in content) return this.#packed(content);
    try {
      const { keyspace: _k, partition: _p, walBytes = 0, ...description } = content.description;
      return { copy, ...description, walBytes, key: content.key, ...(await content.door(0)) };
    } catch (error) {
      await this.release({ copy });
      throw new CodedError('USAGE', 'no process sends copies here', { cause: error });
    }
  }

  #packed(packed: PackedPartition): AnswerOf<typeof copyStart> {
    const { store, throttle } = this.#ports;
    const { keyspace, partition, ...rest } = packed;
    throttle.note(packed.records.length);
    return { ...rest, hasPromises: store.preparedBallots(keyspace, partition).length > 0 };
  }

  /** Throws MOVE_UNKNOWN. */
  async goOn({ copy, offset }: RequestOf<typeof copyGoOn>): Promise<AnswerOf<typeof copyGoOn>> {
    return this.#outgoing(copy).door(offset);
  }

  /** Throws MOVE_UNKNOWN, COPY_BUSY, COPY_CUT. In any case the copy is released. */
  async checksum({ copy }: RequestOf<typeof copyChecksum>): Promise<AnswerOf<typeof copyChecksum>> {
    const outgoing = this.#outgoing(copy);
    try {
      const checksum = await outgoing.checksum();
      // failpoint: copy-out.read
      return { checksum };
    } finally {
      this.#ports.throttle.note(outgoing.description.bytes);
      await this.release({ copy });
    }
  }

  /** Like `start`, but gives a snapshot. */
  async open(
    request: RequestOf<typeof copyOpen>,
    caller: Caller,
  ): Promise<AnswerOf<typeof copyOpen>> {
    const { copy, content } = await this.#open(request, caller, () => {
      this.#checkCooledDown();
      return this.#lane(() => this.#afterWrites(request, () => this.#snapshot(request)));
    });
    const { sourceIncarnation, seq, bytes, seal, rows, tombstones, digest } = content.manifest;
    return { copy, sourceIncarnation, seq, bytes, seal, rows, tombstones, digest };
  }

  async #open<Content extends OutgoingCopy | Snapshot | PackedPartition>(
    request: RequestOf<typeof copyOpen>,
    caller: Caller,
    begin: () => Promise<Content>,
  ): Promise<{ copy: string; content: Content }> {
    const fenced = await passFence(this.#ports, request, caller);
    checkSource(fenced, request);
    const joinerKey = `${request.keyspace}/${request.partition}/d${request.device}`;
    await this.#releaseFormer(joinerKey);
    const locality = localityOf(fenced.active.ring, request.device);
    const localities = [
      ...this.#opening,
      ...[...this.#opened.values()].map((open) => open.locality),
    ];
    checkRoom(localities, locality, this.#ports.loadThrottle());
    this.#opening.push(locality);
    try {
      // failpoint: copy-out.before-snapshot
      const content = await begin();
      const copy = randomBytes(12).toString('hex');
      const lastUsedMs = this.#ports.monotonicMs();
      if (!('records' in content)) {
        this.#opened.set(copy, { content, joinerKey, locality, lastUsedMs, sentBytes: 0 });
      }
      // failpoint: copy-out.opened
      return { copy, content };
    } finally {
      this.#opening.splice(this.#opening.indexOf(locality), 1);
    }
  }

  /** Throws COPY_BUSY with the time at which to ask again. */
  #checkCooledDown(): void {
    const retryAfterMs = Math.ceil(this.#cooldown.leftMs);
    if (retryAfterMs === 0) return;
    const message = `the source pauses copies for ${retryAfterMs} ms to serve requests`;
    throw new CodedError('COPY_BUSY', message, { details: { retryAfterMs } });
  }

  /** A joiner that asks again has lost its earlier copy, perhaps with its process. */
  async #releaseFormer(joinerKey: string): Promise<void> {
    for (const [copy, open] of this.#opened) {
      if (open.joinerKey === joinerKey) await this.release({ copy });
    }
  }

  /** Runs `work` after earlier work, in one of a few lanes. */
  #lane<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.shift() ?? Promise.resolve();
    const result = lane.then(work);
    this.#lanes.push(result.then(noMatter, noMatter));
    return result;
  }

  /** Waits for the writes under way. Throws PARTITION_FILLING if the file is incomplete. */
  async #afterWrites<T>(
    { keyspace, partition }: RequestOf<typeof copyOpen>,
    take: () => T | Promise<T>,
  ): Promise<T> {
    const { store, inFlight } = this.#ports;
    await inFlight.drained(keyspace, partition);
    if (store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
    return take();
  }

  async #snapshot({ keyspace, partition }: RequestOf<typeof copyOpen>): Promise<Snapshot> {
    const startedMs = this.#ports.monotonicMs();
    const snapshot = await this.#ports.store.snapshot(keyspace, partition);
    this.#cooldown.after(startedMs);
    return snapshot;
  }

  /** Throws MOVE_UNKNOWN, and COPY_BUSY with the time at which to ask for the same bytes again. */
  async read({
    copy,
    offset,
    length,
  }: RequestOf<typeof copyRead>): Promise<AnswerOf<typeof copyRead>> {
    const { content } = this.#use(copy);
    if (!(content instanceof Snapshot)) throw unknown(copy);
    const { throttle } = this.#ports;
    const retryAfterMs = Math.ceil(throttle.backlogMs());
    if (retryAfterMs > copyReadWaitMsMax) {
      const message = `the copy rate of the source is used up for the next ${retryAfterMs} ms`;
      throw new CodedError('COPY_BUSY', message, { details: { retryAfterMs } });
    }
    await throttle.pass(length);
    return { data: await content.readChunk(offset, Math.min(length, transferChunkBytesMax)) };
  }

  #outgoing(copy: string): OutgoingCopy {
    const { content } = this.#use(copy);
    if (content instanceof OutgoingCopy) return content;
    throw unknown(copy);
  }

  #use(copy: string): OpenCopy {
    const open = this.#opened.get(copy);
    if (open === undefined) throw unknown(copy);
    open.lastUsedMs = this.#ports.monotonicMs();
    return open;
  }

  async release({ copy }: RequestOf<typeof copyClose>): Promise<AnswerOf<typeof copyClose>> {
    const open = this.#opened.get(copy);
    this.#opened.delete(copy);
    await open?.content.release();
    return {};
  }

  /** Releases all copies. */
  async close(): Promise<void> {
    for (const copy of this.#opened.keys()) await this.release({ copy });
  }

  /** Releases the copies whose joiners have gone. To be called from time to time. */
  async releaseIdle(): Promise<void> {
    const idleBeforeMs = this.#ports.monotonicMs() - copyIdleMsMax;
    for (const [copy, open] of this.#opened) {
      const { content, sentBytes } = open;
      if (content instanceof OutgoingCopy && content.sentBytes !== sentBytes) {
        open.sentBytes = content.sentBytes;
        open.lastUsedMs = this.#ports.monotonicMs();
      }
      if (open.lastUsedMs < idleBeforeMs) await this.release({ copy });
    }
  }
}

const noMatter = (): void => undefined;

function unknown(copy: string): CodedError {
  return new CodedError('MOVE_UNKNOWN', `no copy '${copy}' is open here`);
}

/** Throws COPY_BUSY: the joiner goes on with another partition and asks again. */
function checkRoom(
  localities: readonly (Locality | null)[],
  to: Locality | null,
  { loads }: LoadThrottle,
): void {
  const limits = [
    [localities.length, Math.min(copiesOutMax, loads ?? copiesOutMax), 'in all'],
    [countAt(localities, 'server', to), copiesToServerMax, `to server ${to?.server}`],
    [countAt(localities, 'zone', to), copiesToZoneMax, `to zone ${to?.zone}`],
  ] as const;
  for (const [count, max, whom] of limits) {
    if (count < max) continue;
    throw new CodedError('COPY_BUSY', `the source sends ${count} copies ${whom}, the maximum`);
  }
}

/**
 * Throws unless this device serves the partition and the copy is for a move in flight, or for a
 * holder that refills.
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
