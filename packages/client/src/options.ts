// What callers pass: keys, values, and the options of each call.
import type { HintReader } from '@ringwright/node/link/not-reached';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';

/** A string stands for its UTF-8 bytes. */
export type Bytes = string | Uint8Array;

export interface ReadOptions {
  /** Default: the client's level, which is quorum unless connect() sets another. */
  readonly consistency?: ConsistencyLevel;
}

export interface WriteOptions extends ReadOptions {
  /**
   * True: if the answer to a write is lost, send it again with a new stamp. Safe where writing the
   * same value twice does no harm, even if somebody else wrote in between. Default false: throws
   * WRITE_UNKNOWN, and the caller decides. With `if` it throws WRITE_UNKNOWN as well when the
   * condition fails after a lost answer: the write that was lost may be what fails it.
   */
  readonly repeatUnknown?: boolean;
  /**
   * 'absent', 'present', or the stamp or ETag of a record: writes only if the key has no value, has
   * one, or holds that very record; else throws PRECONDITION_FAILED, with the present stamp in
   * `details.stamp`. No other record is ever current between that record and the new one. A quorum
   * decides, with two round trips more than a plain write.
   */
  readonly if?: string;
}

export interface PutOptions extends WriteOptions {
  /** Milliseconds after which the record counts as deleted; default: never. */
  readonly ttlMs?: number;
  /** Replaces the client's value: 0 sends this put at once. */
  readonly smearMs?: number;
}

export interface ScanOptions extends ReadOptions {
  /** Only keys that begin with it; default: all. */
  readonly prefix?: Bytes;
  /** The lowest key; default: the first. */
  readonly from?: Bytes;
  /** Only keys below this one; default: up to the last. */
  readonly to?: Bytes;
  /** From the highest key to the lowest; default: false. */
  readonly reverse?: boolean;
  /** Maximum number of records; default: all. */
  readonly limit?: number;
  /** False: values are empty, which saves their transfer; default: true. */
  readonly values?: boolean;
  /** Only this partition, as numbered by the ring when the scan begins; default: all. */
  readonly partition?: number;
  /** Scan.cursor of an earlier scan of the same interval, to resume from. */
  readonly cursor?: string | null;
}

export interface ConnectOptions {
  /** Name of the keyspace, which is also the name of its ring. */
  readonly keyspace: string;
  /** Level of requests that name none; default: quorum. */
  readonly consistency?: ConsistencyLevel;
  /** `client.session` of an earlier client: this client sees at least what that one saw. */
  readonly session?: string | null;
  /** Longest wait for one server's answer in ms; default: 15,000. */
  readonly timeoutMs?: number;
  /** ID.SECRET from `ring-builder access grant`; not needed where servers require none. */
  readonly token?: string;
  /** A key and its certificate (PEM) that grant roles, instead of a token. */
  readonly identity?: { readonly key: string; readonly cert: string };
  /**
   * Certificates (PEM) of the authority that signed the servers' certificates; connections then use
   * TLS only. Servers whose keys the ring names must prove those keys.
   */
  readonly ca?: string;
  /** SHA-256 of the public keys of `addresses`, in hex: for servers without an authority. */
  readonly fingerprint?: string | readonly string[];
  /** Ids of the device keys that a ring names for `addresses`: for callers that have that ring. */
  readonly deviceKeys?: readonly string[];
  /** Who reads the hints of errors: by default the programmer; `operator` for a command. */
  readonly reader?: HintReader;
  /** Location of this client, such as r1z2 or r1: servers there are asked first. */
  readonly near?: string;
  /**
   * Each put first waits for a random part of this many ms. So if keys begin with the time, the
   * first writes of a period do not all hit one partition at once. Default: 0.
   */
  readonly smearMs?: number;
}
