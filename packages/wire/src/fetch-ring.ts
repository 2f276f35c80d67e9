// Fetches the active ring of a keyspace from a peer, chunk by chunk, as a delta where possible.
// Rings are verified when they are decoded. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import {
  peerCallTimeoutMs,
  ringFileBytesMax,
  transferChunkBytesMax,
} from '@ringwright/base/limits';
import type { Caller } from './call-channel.ts';
import type { RingHead } from './hello.ts';
import type { AnswerOf } from './message.ts';
import { ringFetch } from './rings.ts';

interface FetchedRing {
  readonly bytes: Uint8Array;
  /** The ring id that the peer reports. */
  readonly id: string;
  /** Whether `bytes` are a delta to the ring that was named as base. */
  readonly isDelta: boolean;
}

export interface RingWanted {
  readonly keyspace: string;
  /** A ring that the caller has: the peer may send a delta to it. */
  readonly base: RingHead | null;
  /**
   * Called with each chunk before it is kept and the next is requested. An error it throws ends the
   * fetch.
   */
  readonly onChunk?: (data: Uint8Array, chunk: { readonly isStart: boolean }) => Promise<void>;
}

/** Returns the bytes of the peer's active ring file, of the version at the first chunk. */
export async function fetchRing(peer: Caller, keyspace: string): Promise<Uint8Array> {
  return (await fetchRingFor(peer, { keyspace, base: null })).bytes;
}

/**
 * Returns a delta to `base` if the peer can make one, else the file. Throws RING_TOO_LARGE, and
 * PEER_FAILED for short chunks: each costs a call, and calls may take long.
 */
export async function fetchRingFor(
  peer: Caller,
  { keyspace, base, onChunk }: RingWanted,
): Promise<FetchedRing> {
  const fields = { keyspace, base };
  const first = await peer.call(ringFetch, { ...fields, id: null, offset: 0 }, peerCallTimeoutMs);
  const { id, isDelta, bytes } = first;
  if (bytes > ringFileBytesMax) {
    const message = `a ring of ${bytes} bytes; the maximum is ${ringFileBytesMax}`;
    throw new CodedError('RING_TOO_LARGE', message);
  }
  const chunks: Uint8Array[] = [];
  let received = 0;
  for (let chunk = first; ; ) {
    checkChunk(chunk, first, received);
    await onChunk?.(chunk.data, { isStart: received === 0 && !isDelta });
    chunks.push(chunk.data);
    received += chunk.data.length;
    if (received === bytes) return { bytes: Buffer.concat(chunks), id, isDelta };
    chunk = await peer.call(ringFetch, { ...fields, id, offset: received }, peerCallTimeoutMs);
  }
}

type Chunk = AnswerOf<typeof ringFetch>;

/** Every chunk must have the full length, the last one exactly the rest. */
function checkChunk({ bytes, isDelta, data }: Chunk, first: Chunk, received: number): void {
  if (isDelta !== first.isDelta || bytes !== first.bytes) {
    const change = `from ${first.bytes} to ${bytes} bytes`;
    const message = `the ring grew or shrank ${change} while it was fetched`;
    throw new CodedError('PEER_FAILED', message);
  }
  const expected = Math.min(transferChunkBytesMax, bytes - received);
  if (data.length === expected) return;
  const message = `a ring chunk of ${data.length} bytes, ${expected} were expected`;
  throw new CodedError('PEER_FAILED', message);
}

/** Returns the first bytes of the peer's active ring with this id; they include its manifest. */
export async function fetchRingStart(
  peer: Caller,
  { keyspace, id }: RingHead,
): Promise<Uint8Array> {
  const request = { keyspace, id, base: null, offset: 0 };
  return (await peer.call(ringFetch, request, peerCallTimeoutMs)).data;
}
