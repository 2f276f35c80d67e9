// Rings between servers and from the tool: answers to offers, chunks and fetches; catching up from
// a peer.
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { applyRingDelta } from '@ringwright/ring/ring-delta';
import type { Caller } from '@ringwright/wire/call-channel';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import type { RingHead } from '@ringwright/wire/hello';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { ringChunk, ringDelta, ringFetch, ringOffer } from '@ringwright/wire/rings';
import { type ActiveRing, ringHead } from './active-ring.ts';
import type { Rings } from './rings.ts';
import type { TrustExchange } from './trust-exchange.ts';

interface Upload {
  readonly id: string;
  readonly keyspace: string;
  /** What arrives: the file, or a delta between the ring `base` and it. */
  readonly bytes: number;
  readonly base: string | null;
  /** Memory is taken as bytes arrive, not as they are announced. */
  readonly chunks: Uint8Array[];
  received: number;
}

function uploadOf(expected: Pick<Upload, 'id' | 'keyspace' | 'bytes' | 'base'>): Upload {
  return { ...expected, chunks: [], received: 0 };
}

/** One upload per connection at a time: an offer replaces the one before. */
export class RingExchange {
  readonly #rings: Rings;
  readonly #trust: TrustExchange | undefined;
  readonly #uploads = new WeakMap<Caller, Upload>();
  readonly #catchingUp = new Map<string, Promise<void>>();

  constructor(rings: Rings, trust?: TrustExchange) {
    this.#rings = rings;
    this.#trust = trust;
  }

  offer(request: RequestOf<typeof ringOffer>, caller: Caller): AnswerOf<typeof ringOffer> {
    const { keyspace, version, id, bytes } = request;
    const wanted = this.#rings.precheck({ keyspace, version, id }) === 'wanted';
    if (wanted) this.#uploads.set(caller, uploadOf({ id, keyspace, bytes, base: null }));
    return { wanted, active: this.#head(keyspace) };
  }

  /** Throws RING_VERSION_UNKNOWN when the base is not active; a new offer begins anew. */
  delta(
    { id, base, bytes }: RequestOf<typeof ringDelta>,
    caller: Caller,
  ): AnswerOf<typeof ringDelta> {
    const upload = this.#uploads.get(caller);
    if (upload === undefined || upload.id !== id || upload.received > 0) {
      throw new CodedError('USAGE', `a delta of ring ${id.slice(0, 12)}, expected an offer of it`);
    }
    this.#uploads.delete(caller);
    this.#baseOf(upload.keyspace, base);
    this.#uploads.set(caller, uploadOf({ id, keyspace: upload.keyspace, bytes, base }));
    return {};
  }

  /** The last one throws what applyRingDelta and Rings.adopt throw. */
  async chunk(
    request: RequestOf<typeof ringChunk>,
    caller: Caller,
  ): Promise<AnswerOf<typeof ringChunk>> {
    const upload = this.#uploads.get(caller);
    const { id, offset, data } = request;
    if (upload === undefined || upload.id !== id || upload.received !== offset) {
      const expected = upload?.received ?? 'an offer';
      const message = `chunk at ${offset} of ring ${id.slice(0, 12)}, expected ${expected}`;
      throw new CodedError('USAGE', message);
    }
    if (data.length === 0) throw new CodedError('USAGE', `an empty chunk at ${offset}`);
    if (offset + data.length > upload.bytes) {
      throw new CodedError('RING_FILE_INVALID', `more bytes than the ${upload.bytes} offered`);
    }
    upload.chunks.push(data);
    upload.received += data.length;
    if (upload.received < upload.bytes) return { active: null };
    this.#uploads.delete(caller);
    const { keyspace, chunks, base } = upload;
    const arrived = Buffer.concat(chunks);
    const file =
      base === null ? arrived : applyRingDelta(this.#baseOf(keyspace, base).bytes, arrived);
    return { active: ringHead(await this.#rings.adopt(file, keyspace)) };
  }

  #baseOf(keyspace: string, base: string): ActiveRing {
    const active = this.#rings.find(keyspace);
    if (active?.id === base) return active;
    const message = `a delta to ring ${base.slice(0, 12)}, which is not active here`;
    throw new CodedError('RING_VERSION_UNKNOWN', message);
  }

  fetch({ keyspace, id, offset }: RequestOf<typeof ringFetch>): AnswerOf<typeof ringFetch> {
    const active = this.#rings.get(keyspace);
    if (id !== null && id !== active.id) {
      throw new CodedError('RING_VERSION_UNKNOWN', `ring ${id.slice(0, 12)} is no longer active`);
    }
    const data = active.bytes.subarray(offset, offset + transferChunkBytesMax);
    return { version: active.ring.version, id: active.id, bytes: active.bytes.length, data };
  }

  /**
   * Fetches a keyspace's ring from a peer that has a newer one. Calls at the same time share one
   * fetch.
   */
  catchUp(keyspace: string, peer: Caller): Promise<void> {
    const running = this.#catchingUp.get(keyspace);
    if (running !== undefined) return running;
    // Its ring may be signed by keys that came into force while this server was away.
    const work = Promise.resolve(this.#trust?.catchUp(peer))
      .then(() => fetchRing(peer, keyspace))
      .then((bytes) => this.#rings.adopt(bytes, keyspace))
      .then(() => undefined)
      .finally(() => this.#catchingUp.delete(keyspace));
    this.#catchingUp.set(keyspace, work);
    return work;
  }

  /** Catches up with every ring of which the peer has a higher version. */
  async catchUpAll(heads: readonly RingHead[], peer: Caller): Promise<void> {
    for (const { keyspace, version } of heads) {
      const have = this.#rings.find(keyspace)?.ring.version ?? 0;
      if (version > have) await this.catchUp(keyspace, peer);
    }
  }

  /**
   * The active ring, at least as new as the caller's. Throws RING_UNKNOWN when neither has one,
   * RING_VERSION_UNKNOWN when the caller cannot give the ring it speaks of.
   */
  async reach(keyspace: string, version: number, caller: Caller): Promise<ActiveRing> {
    const reached = (): ActiveRing | null => {
      const active = this.#rings.find(keyspace);
      return active !== undefined && active.ring.version >= version ? active : null;
    };
    // A fetch under way may be from another peer, with a lower version or a failure of its own: it
    // counts only when it brought the ring. Else this caller is asked, in its turn.
    for (let isOwn = false; reached() === null && !isOwn; ) {
      isOwn = !this.#catchingUp.has(keyspace);
      try {
        await this.catchUp(keyspace, caller);
      } catch (error) {
        // Meanwhile the ring may have come another way; then what was fetched is refused as older.
        if (isOwn && reached() === null) throw error;
      }
    }
    const active = reached();
    if (active !== null) return active;
    const spoken = `the caller speaks of version ${version} of '${keyspace}'`;
    const message = `${spoken}, ${this.#rings.get(keyspace).ring.version} is here`;
    throw new CodedError('RING_VERSION_UNKNOWN', message);
  }

  #head(keyspace: string): RingHead | null {
    const active = this.#rings.find(keyspace);
    return active === undefined ? null : ringHead(active);
  }
}
