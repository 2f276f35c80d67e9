// This device as the source of copies: snapshots of partition files, read in chunks by the joiner.
import { randomBytes } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { copiesOutMax, copyIdleMsMax } from '@ringwright/base/limits-copies';
import type { Snapshot } from '@ringwright/partition/snapshot';
import type { Caller } from '@ringwright/wire/call-channel';
import type { copyClose, copyOpen, copyRead } from '@ringwright/wire/copies';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { type Fenced, filling, notResponsible, passFence, type ReplicaPorts } from './replica.ts';

interface OpenCopy {
  readonly snapshot: Snapshot;
  lastUsedMs: number;
}

/** Snapshots that others are reading. Idle ones are released when the next is opened. */
export class CopySource {
  readonly #ports: ReplicaPorts;
  readonly #nowMs: () => number;
  readonly #open = new Map<string, OpenCopy>();
  /** Snapshots that are being taken. */
  #opening = 0;

  constructor(ports: ReplicaPorts, nowMs: () => number) {
    this.#ports = ports;
    this.#nowMs = nowMs;
  }

  /**
   * A snapshot with everything written here under older ring versions: the fence is passed and what
   * was under way
   * has ended before it is taken. Throws MOVE_UNKNOWN, NOT_RESPONSIBLE, PARTITION_FILLING,
   * PEER_BUSY.
   */
  async open(
    request: RequestOf<typeof copyOpen>,
    caller: Caller,
  ): Promise<AnswerOf<typeof copyOpen>> {
    checkSource(await passFence(this.#ports, request, caller), request);
    await this.#releaseIdle();
    const copies = this.#open.size + this.#opening;
    if (copies >= copiesOutMax) {
      throw new CodedError('PEER_BUSY', `${copies} copies are open, ${copiesOutMax} is the most`);
    }
    this.#opening += 1;
    const snapshot = await this.#take(request).finally(() => {
      this.#opening -= 1;
    });
    const copy = randomBytes(12).toString('hex');
    this.#open.set(copy, { snapshot, lastUsedMs: this.#nowMs() });
    const { sourceIncarnation, seq, bytes, sha256, rows, tombstones, digest } = snapshot.manifest;
    return { copy, sourceIncarnation, seq, bytes, sha256, rows, tombstones, digest };
  }

  async #take({ keyspace, partition }: RequestOf<typeof copyOpen>): Promise<Snapshot> {
    const { store, inFlight } = this.#ports;
    await inFlight.settled(keyspace, partition);
    if (store.info(keyspace, partition)?.state !== 'ready') throw filling(partition);
    return store.snapshot(keyspace, partition);
  }

  async read({
    copy,
    offset,
    length,
  }: RequestOf<typeof copyRead>): Promise<AnswerOf<typeof copyRead>> {
    const open = this.#open.get(copy);
    if (open === undefined) throw new CodedError('MOVE_UNKNOWN', `no copy '${copy}' is open here`);
    open.lastUsedMs = this.#nowMs();
    return { data: await open.snapshot.readChunk(offset, Math.min(length, transferChunkBytesMax)) };
  }

  async close({ copy }: RequestOf<typeof copyClose>): Promise<AnswerOf<typeof copyClose>> {
    const open = this.#open.get(copy);
    this.#open.delete(copy);
    await open?.snapshot.release();
    return {};
  }

  async #releaseIdle(): Promise<void> {
    const before = this.#nowMs() - copyIdleMsMax;
    for (const [copy, { lastUsedMs }] of this.#open) {
      if (lastUsedMs < before) await this.close({ copy });
    }
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
