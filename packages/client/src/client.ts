// The client: reads and writes one keyspace, sending each request to a server that holds the key.
import { hasCode } from '@ringwright/base/coded-error';
import { clientHedgeMs, clientItemsAtOnce } from '@ringwright/base/limits';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import {
  advanceSession,
  formatSessionToken,
  type SessionToken,
} from '@ringwright/base/session-token';
import { formatStamp } from '@ringwright/base/stamp';
import { type ConsistencyLevel, coordinateGet, coordinatePut } from '@ringwright/wire/coordination';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { keyBytes, valueBytes } from './bytes.ts';
import { checkOptions } from './check-options.ts';
import { clientClosed } from './client-closed.ts';
import { checkConsistency, checkTtl, conditionOf } from './condition.ts';
import { mostSpecificFailure, unknownWrite, writeFailure } from './failure-kind.ts';
import type { Bytes, PutOptions, ReadOptions, ScanOptions, WriteOptions } from './options.ts';
import type { OpenedServer, RingFollower } from './ring-follower.ts';
import { Scan, scanSettings } from './scan.ts';
import { checkSmear, smear } from './smear.ts';
import { wrongType } from './wrong-type.ts';

export interface ClientRecord {
  readonly value: Uint8Array;
  /** `ms.counter.device`: time and device of the write; equal stamps mean equal records. */
  readonly stamp: string;
  /** Unix ms at which it expires; null: never. */
  readonly expiresMs: number | null;
}

export type GetOutcome =
  | { readonly ok: true; readonly record: ClientRecord | null }
  | { readonly ok: false; readonly error: unknown };

export type PutOutcome =
  | { readonly ok: true; readonly stamp: string }
  | { readonly ok: false; readonly error: unknown };

export interface ClientSettings {
  readonly keyspace: string;
  readonly consistency: ConsistencyLevel;
  readonly session: SessionToken | null;
  readonly timeoutMs: number;
  readonly smearMs: number;
}

/** Created by connect(). Must be closed, best with `await using`. */
export class Client implements AsyncDisposable {
  readonly #follower: RingFollower;
  readonly #settings: ClientSettings;
  #session: SessionToken | null;
  #closed = false;

  constructor(follower: RingFollower, settings: ClientSettings) {
    this.#follower = follower;
    this.#settings = settings;
    this.#session = settings.session;
  }

  /** Version of the ring that routes requests; answers tell the client about newer ones. */
  get ringVersion(): number {
    return this.#follower.ring.version;
  }

  /**
   * What this client has seen, to continue elsewhere: pass it to another connect(), or to HTTP as
   * `x-ringwright-session`. Null before anything was seen.
   */
  get session(): string | null {
    return this.#session === null ? null : formatSessionToken(this.#session);
  }

  /**
   * Returns the record of a key, or null. Never older than what this client has read or written.
   * Throws NOT_ENOUGH_REPLICAS, SESSION_BEHIND, PEER_ codes, KEY_INVALID, CONSISTENCY_INVALID,
   * CLIENT_CLOSED, and, like every call, USAGE for an invalid key or option.
   */
  async get(key: Bytes, options: ReadOptions = {}): Promise<ClientRecord | null> {
    this.#checkOpen();
    checkOptions('get', options);
    const { keyspace } = this.#settings;
    const consistency = checkConsistency(options.consistency) ?? this.#settings.consistency;
    const request = { keyspace, key: keyBytes(key), consistency, session: this.#session };
    const partition = this.#follower.ring.partitionOf(request.key);
    const { record } = await this.#follower.ask(
      { partition, hedgeMs: clientHedgeMs },
      (channel, timeoutMs) => channel.call(coordinateGet, request, timeoutMs),
    );
    this.#session = advanceSession(this.#session, record, consistency);
    if (record === null || record.value === null) return null;
    const { value, expiresMs = null } = record;
    return { value, stamp: formatStamp(record.origin ?? record), expiresMs };
  }

  /**
   * Stores a value. When it resolves, with the record's stamp, the value is durable at its
   * consistency level. Throws SUPERSEDED when a newer record exists, NOT_ENOUGH_REPLICAS
   * (`details.outcome` says whether the value may still appear), WRITE_UNKNOWN when the answer was
   * lost, KEY_INVALID, VALUE_TOO_LARGE, VALUE_OUT_OF_RANGE, CONSISTENCY_INVALID, CLIENT_CLOSED;
   * with a condition also PRECONDITION_FAILED, KEY_CONTENDED and KEY_OVERTAKEN.
   */
  async put(key: Bytes, value: Bytes, options: PutOptions = {}): Promise<string> {
    checkOptions('put', options);
    const content = [keyBytes(key), valueBytes(value)] as const;
    const smearMs = checkSmear(options.smearMs ?? this.#settings.smearMs);
    if (smearMs !== 0) await smear(smearMs);
    return this.#write(...content, options);
  }

  /** Removes a key, whether it exists or not. Throws like `put`. */
  async delete(key: Bytes, options: WriteOptions = {}): Promise<string> {
    checkOptions('delete', options);
    return this.#write(keyBytes(key), null, options);
  }

  /** Reads many keys independently. Returns an outcome for every key, in order. */
  async getMany(keys: Iterable<Bytes>, options: ReadOptions = {}): Promise<GetOutcome[]> {
    return mapConcurrent(
      listOf('keys', keys),
      clientItemsAtOnce,
      async (key): Promise<GetOutcome> => {
        try {
          return { ok: true, record: await this.get(key, options) };
        } catch (error) {
          return { ok: false, error };
        }
      },
    );
  }

  /** Stores many values independently. Returns an outcome for every entry, in order. */
  async putMany(
    entries: Iterable<readonly [Bytes, Bytes]>,
    options: PutOptions = {},
  ): Promise<PutOutcome[]> {
    const pairs = listOf('entries', entries);
    return mapConcurrent(pairs, clientItemsAtOnce, async (pair): Promise<PutOutcome> => {
      try {
        const [key, value] = pairOf(pair);
        return { ok: true, stamp: await this.put(key, value, options) };
      } catch (error) {
        return { ok: false, error };
      }
    });
  }

  /**
   * Iterates over the records of the keyspace, or of a part of it, in order: see Scan. Reads pages
   * ahead from several servers. Includes everything acknowledged at quorum before it began. Throws
   * KEY_INVALID, VALUE_OUT_OF_RANGE, CONSISTENCY_INVALID, CURSOR_INVALID, CLIENT_CLOSED; its steps
   * throw like `get`.
   *
   *     for await (const { key, value } of client.scan({ prefix: 'user:' })) …
   */
  scan(options: ScanOptions = {}): Scan {
    this.#checkOpen();
    const { keyspace } = this.#settings;
    const settings = scanSettings(options);
    const consistency = checkConsistency(options.consistency) ?? this.#settings.consistency;
    return new Scan(this.#follower, { ...settings, keyspace, consistency });
  }

  /** Closes the connections. Requests in flight are rejected; a write may still be stored. */
  close(): Promise<void> {
    this.#closed = true;
    this.#follower.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #write(key: Uint8Array, value: Uint8Array | null, options: PutOptions): Promise<string> {
    this.#checkOpen();
    const { keyspace } = this.#settings;
    const consistency = checkConsistency(options.consistency) ?? this.#settings.consistency;
    const fields = { keyspace, key, value, consistency, session: this.#session };
    const condition = conditionOf(options.if);
    const request = { ...fields, ttlMs: checkTtl(options.ttlMs), condition };
    const written = await this.#send(request, options.repeatUnknown ?? false);
    this.#session = advanceSession(this.#session, written, consistency);
    return formatStamp(written.origin ?? written);
  }

  /** Tries one server after another as long as the write is certainly stored nowhere. */
  async #send(
    request: RequestOf<typeof coordinatePut>,
    repeatUnknown: boolean,
  ): Promise<AnswerOf<typeof coordinatePut>> {
    const { ring } = this.#follower;
    const left = new Set(this.#follower.choose(ring.partitionOf(request.key)));
    let failure: unknown = null;
    let unknownFailure: unknown = null;
    while (left.size > 0) {
      this.#checkOpen();
      let address: string | null = null;
      try {
        const opened = await this.#follower.openFirst(left);
        address = opened.address;
        return await this.#writeAt(opened, request);
      } catch (error) {
        failure = mostSpecificFailure(failure, error);
        if (address === null) break; // no server can be reached, or the client is closed
        left.delete(address);
        const kind = writeFailure(error);
        // A newer record replaces the write of every attempt, so its outcome is known.
        if (kind === 'final')
          throw hasCode(error, 'SUPERSEDED') ? error : (unknownFailure ?? error);
        this.#follower.avoid(address);
        if (kind === 'unknown' && !repeatUnknown) throw unknownWrite(error, false);
        if (kind === 'unknown') unknownFailure ??= unknownWrite(error, repeatUnknown);
      }
    }
    this.#checkOpen();
    // Whatever the other servers said, one of them may have stored the write.
    throw unknownFailure ?? failure;
  }

  /** While a write has no answer, other writes try this server last. */
  async #writeAt(
    { address, channel }: OpenedServer,
    request: RequestOf<typeof coordinatePut>,
  ): Promise<AnswerOf<typeof coordinatePut>> {
    const slow = setInterval(() => this.#follower.avoid(address), clientHedgeMs);
    try {
      const answer = await channel.call(coordinatePut, request, this.#settings.timeoutMs);
      this.#follower.noteRingVersion(answer.ringVersion, channel);
      return answer;
    } finally {
      clearInterval(slow);
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw clientClosed();
  }
}

/** Excludes strings, which are iterable too: nobody means their letters. */
function listOf<Item>(name: string, items: Iterable<Item>): Item[] {
  if (typeof items === 'object' && items !== null && Symbol.iterator in items) return [...items];
  const hint = 'getMany takes keys, and putMany pairs of a key and a value';
  throw wrongType(`the list of ${name}`, items, { wanted: 'a list', hint });
}

function pairOf<Pair>(pair: Pair): Pair {
  if (Array.isArray(pair)) return pair;
  throw wrongType('an entry', pair, { wanted: 'a list', hint: "write ['key', 'value']" });
}
