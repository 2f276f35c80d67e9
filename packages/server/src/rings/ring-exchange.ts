// Exchange of rings between servers and with the tool: answers to offers, chunks and fetches, and
// catching up with a peer.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { ringFetchesBytesMax, ringFetchesMax } from '@ringwright/base/limits-rings';
import { monotonicMs } from '@ringwright/node/system-clock';
import type { Caller } from '@ringwright/wire/call-channel';
import { fetchRingFor, fetchRingStart, type RingWanted } from '@ringwright/wire/fetch-ring';
import type { RingHead, RingHeld } from '@ringwright/wire/hello';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type {
  ringChunk,
  ringDelta,
  ringFetch,
  ringOffer,
  ringSettle,
} from '@ringwright/wire/rings';
import type { TrustExchange } from '../trust/trust-exchange.ts';
import { type ActiveRing, ringHead } from './active-ring.ts';
import type { RelayedDeltas } from './relayed-deltas.ts';
import { applyRingDeltaInWorker } from './ring-in-worker.ts';
import { RingUploads } from './ring-uploads.ts';
import type { Rings } from './rings.ts';

/**
 * Returns a connection that this server makes to the caller's address; null: nothing is fetched
 * from the caller.
 */
export type ConnectBack = (caller: Caller) => Promise<Caller | null>;

/**
 * What servers need to relay rings to each other. A listener that only receives pushes needs none.
 */
interface RelayPorts {
  readonly trust?: TrustExchange;
  readonly deltas?: RelayedDeltas;
  readonly connectBack?: ConnectBack;
  /** Called with the form in which a fetched ring traveled. */
  readonly onFetched?: (form: 'delta' | 'whole', bytes: number) => void;
}

export class RingExchange {
  readonly #rings: Rings;
  readonly #relay: RelayPorts;
  readonly #uploads: RingUploads;
  readonly #fetches = new RingFetches();
  readonly #catchingUp = new Map<string, Promise<void>>();

  constructor(rings: Rings, relay: RelayPorts = {}) {
    this.#rings = rings;
    this.#relay = relay;
    this.#uploads = new RingUploads(monotonicMs);
  }

  offer(request: RequestOf<typeof ringOffer>, caller: Caller): AnswerOf<typeof ringOffer> {
    const { keyspace, version, id, bytes, signers } = request;
    const head = { keyspace, version, id };
    const isNew = this.#rings.precheck(head) === 'wanted';
    const wanted = isNew || this.#rings.wantsSignatures({ ...head, signers });
    if (wanted) this.#uploads.begin(caller, { id, keyspace, bytes, base: null });
    return { wanted, active: this.#head(keyspace) };
  }

  /**
   * Throws RING_VERSION_UNKNOWN if the base is not active; the sender then begins with a new offer.
   */
  delta(
    { id, base, bytes }: RequestOf<typeof ringDelta>,
    caller: Caller,
  ): AnswerOf<typeof ringDelta> {
    const upload = this.#uploads.find(caller);
    if (upload === undefined || upload.id !== id || upload.received > 0) {
      throw new CodedError('USAGE', `a delta of ring ${id.slice(0, 12)}, expected an offer of it`);
    }
    this.#uploads.end(caller);
    this.#baseOf(upload.keyspace, base);
    this.#uploads.begin(caller, { id, keyspace: upload.keyspace, bytes, base });
    return {};
  }

  /** The last chunk also throws what applyRingDelta and Rings.adopt throw. */
  async chunk(
    request: RequestOf<typeof ringChunk>,
    caller: Caller,
  ): Promise<AnswerOf<typeof ringChunk>> {
    const upload = this.#uploads.find(caller);
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
    const arrived = this.#uploads.add(caller, data);
    if (arrived === null) return { active: null };
    const { keyspace, content, base } = arrived;
    const file =
      base === null
        ? content
        : await applyRingDeltaInWorker(this.#baseOf(keyspace, base).bytes, content);
    return { active: ringHead(await this.#rings.adopt(file, keyspace)) };
  }

  #baseOf(keyspace: string, base: string): ActiveRing {
    const active = this.#rings.find(keyspace);
    if (active?.id === base) return active;
    const message = `a delta relative to ring ${base.slice(0, 12)}, which is not active here`;
    throw new CodedError('RING_VERSION_UNKNOWN', message);
  }

  async fetch(request: RequestOf<typeof ringFetch>): Promise<AnswerOf<typeof ringFetch>> {
    const { keyspace, id, base, offset } = request;
    const active = this.#rings.get(keyspace);
    if (id !== null && id !== active.id) {
      throw new CodedError('RING_VERSION_UNKNOWN', `ring ${id.slice(0, 12)} is no longer active`);
    }
    const delta = base === null ? null : await this.#relay.deltas?.from(base, active);
    const content = delta ?? active.bytes;
    const data = content.subarray(offset, offset + transferChunkBytesMax);
    const { version } = active.ring;
    return { version, id: active.id, bytes: content.length, isDelta: content === delta, data };
  }

  /**
   * Fetches a keyspace's ring from a peer that has a newer one. Concurrent calls share one fetch.
   * `peer` must be a greeted connection: a connection that greets first would wait for itself.
   */
  catchUp(keyspace: string, peer: Caller): Promise<void> {
    const running = this.#catchingUp.get(keyspace);
    if (running !== undefined) return running;
    const work = this.#fetches
      .run(async (take) => {
        // The ring may be signed by keys that came into force while this server was offline.
        await this.#relay.trust?.catchUp(peer);
        await this.#rings.adopt(await this.#fetchFile(keyspace, peer, take), keyspace);
      })
      .finally(() => this.#catchingUp.delete(keyspace));
    this.#catchingUp.set(keyspace, work);
    return work;
  }

  /** Returns the peer's ring file, fetched as a delta to the ring here if both ends can do that. */
  async #fetchFile(keyspace: string, peer: Caller, take: TakeBytes): Promise<Uint8Array> {
    const onChunk: RingWanted['onChunk'] = async (data, { isStart }) => {
      // Manifest and signatures come first. If they are refused, no more is fetched.
      if (isStart) await this.#rings.checkFirstBytes(data, keyspace);
      take(data.length);
    };
    const active = this.#rings.find(keyspace);
    if (active !== undefined) {
      const base = ringHead(active);
      const { bytes, isDelta } = await fetchRingFor(peer, { keyspace, base, onChunk });
      this.#relay.onFetched?.(isDelta ? 'delta' : 'whole', bytes.length);
      if (!isDelta) return bytes;
      try {
        return await applyRingDeltaInWorker(active.bytes, bytes);
      } catch (error) {
        if (!hasCode(error, 'RING_DELTA_INVALID')) throw error;
      }
    }
    const { bytes } = await fetchRingFor(peer, { keyspace, base: null, onChunk });
    this.#relay.onFetched?.('whole', bytes.length);
    return bytes;
  }

  /**
   * Catches up with every ring of which the peer has a higher version, or the same version with
   * more signatures. Looks at a ring of another line, so that this server raises its alarm too.
   * Resolves to the errors: a refused ring does not hold up the others; a peer that fails is asked
   * no more.
   */
  async catchUpAll(heads: readonly RingHeld[], peer: Caller, from: string): Promise<unknown[]> {
    const refusals: unknown[] = [];
    for (const head of heads) {
      try {
        await this.#catchUpWith(head, peer, from);
      } catch (error) {
        refusals.push(error);
        if (error instanceof CodedError && isPeerCode(error.code)) break;
      }
    }
    return refusals;
  }

  async #catchUpWith(head: RingHeld, peer: Caller, from: string): Promise<void> {
    if (this.#isAhead(head)) await this.catchUp(head.keyspace, peer);
    else if (this.#rings.isNewFork(head)) {
      await this.#rings.judgeFirstBytes(await fetchRingStart(peer, head), from);
    }
  }

  /** Whether catching up with these rings would change anything. */
  lacks(heads: readonly RingHeld[]): boolean {
    // Counting signatures is expensive, so a keyspace that is named many times counts once.
    const byKeyspace = new Map(heads.map((head) => [head.keyspace, head]));
    return [...byKeyspace.values()].some(
      (head) => this.#isAhead(head) || this.#rings.isNewFork(head),
    );
  }

  #isAhead(head: RingHeld): boolean {
    const ownVersion = this.#rings.find(head.keyspace)?.ring.version ?? 0;
    return head.version > ownVersion || this.#rings.wantsSignatures(head);
  }

  /**
   * Records the operator's decision on a fork; the chosen ring is pushed next. Throws
   * RING_FORK_UNKNOWN.
   */
  async settle(request: RequestOf<typeof ringSettle>): Promise<AnswerOf<typeof ringSettle>> {
    const { reason, ...head } = request;
    await this.#rings.settle(head, reason);
    return {};
  }

  reached(keyspace: string, version: number): ActiveRing | null {
    const active = this.#rings.find(keyspace);
    return active !== undefined && active.ring.version >= version ? active : null;
  }

  /**
   * Returns the active ring, at least as new as the caller's version. Throws RING_UNKNOWN if
   * neither side has a ring. Throws RING_VERSION_UNKNOWN if the caller cannot give the ring it
   * names, or rings are not fetched from this caller.
   */
  async reach(keyspace: string, version: number, caller: Caller): Promise<ActiveRing> {
    const reached = (): ActiveRing | null => this.reached(keyspace, version);
    const present = reached();
    if (present !== null) return present;
    const { connectBack } = this.#relay;
    // Greeting the caller may already bring the ring.
    const source = connectBack === undefined ? caller : await connectBack(caller);
    if (source === null) throw this.#versionUnknown(keyspace, version);
    // A fetch under way may be from another peer, with a lower version or a failure of its own. It
    // counts only if it brought the ring. Otherwise this caller is asked next.
    for (let isOwn = false; reached() === null && !isOwn; ) {
      isOwn = !this.#catchingUp.has(keyspace);
      try {
        await this.catchUp(keyspace, source);
      } catch (error) {
        // The ring may have come another way meanwhile; then the fetched one is refused as older.
        if (isOwn && reached() === null) throw error;
      }
    }
    const active = reached();
    if (active !== null) return active;
    throw this.#versionUnknown(keyspace, version);
  }

  #versionUnknown(keyspace: string, version: number): CodedError {
    const callerVersion = `the caller has version ${version} of '${keyspace}'`;
    const message = `${callerVersion}, this server has ${this.#rings.get(keyspace).ring.version}`;
    const hint = `ring-builder push ${keyspace}`;
    return new CodedError('RING_VERSION_UNKNOWN', message, { hint });
  }

  #head(keyspace: string): RingHead | null {
    const active = this.#rings.find(keyspace);
    return active === undefined ? null : ringHead(active);
  }
}

/** Called with each chunk before it is kept. Throws PEER_BUSY when there is no room for it. */
type TakeBytes = (bytes: number) => void;

export class RingFetches {
  #running = 0;
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs a fetch, and the work with its bytes, when a place is free. */
  async run<T>(fetch: (take: TakeBytes) => Promise<T>): Promise<T> {
    if (this.#running >= ringFetchesMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    let ownBytes = 0;
    try {
      return await fetch((bytes) => {
        if (this.#bytes + bytes > ringFetchesBytesMax) throw busy();
        ownBytes += bytes;
        this.#bytes += bytes;
      });
    } finally {
      this.#bytes -= ownBytes;
      const next = this.#waiting.shift();
      // Passes the place on to the next fetch, or frees it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function busy(): CodedError {
  const message = `${ringFetchesBytesMax} bytes of rings are fetched here, which is the maximum`;
  return new CodedError('PEER_BUSY', message, { hint: 'they are fetched later by themselves' });
}
