// Sends a ring to a server: an offer, then a delta to the ring it has, or the whole file. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import type { Caller } from './call-channel.ts';
import type { RingHead } from './hello.ts';
import { ringChunk, ringDelta, ringOffer } from './rings.ts';

export interface SentRing extends RingHead {
  readonly bytes: Uint8Array;
  /** The delta from the server's active ring; null: there is none, or it would not be small. */
  readonly deltaFrom: (base: RingHead) => Promise<Uint8Array | null>;
  /** Per call; the last call is answered when the ring is verified, stored and active. */
  readonly timeoutMs: number;
}

export interface Sending {
  /** had: the ring is active there already. */
  readonly how: 'had' | 'delta' | 'whole';
  /** Bytes of the ring or its deltas in chunks. */
  readonly bytesSent: number;
}

/**
 * Resolves when the ring is active on the server. If the server refuses the delta as such, the
 * whole file follows. Throws the server's refusals and what its Caller throws.
 */
export async function sendRing(server: Caller, ring: SentRing): Promise<Sending> {
  const active = await offer(server, ring);
  if (active === 'same') return { how: 'had', bytesSent: 0 };
  const delta = active === null ? null : await ring.deltaFrom(active);
  if (active === null || delta === null) {
    return { how: 'whole', bytesSent: await sendChunks(server, ring, ring.bytes) };
  }
  try {
    await server.call(
      ringDelta,
      { id: ring.id, base: active.id, bytes: delta.length },
      ring.timeoutMs,
    );
    return { how: 'delta', bytesSent: await sendChunks(server, ring, delta) };
  } catch (error) {
    if (!isDeltaRefused(error)) throw error;
  }
  if ((await offer(server, ring)) === 'same') return { how: 'had', bytesSent: delta.length };
  const bytesSent = delta.length + (await sendChunks(server, ring, ring.bytes));
  return { how: 'whole', bytesSent };
}

/** The server's active ring; 'same' when it wants nothing. */
async function offer(server: Caller, ring: SentRing): Promise<RingHead | 'same' | null> {
  const { keyspace, version, id, bytes, timeoutMs } = ring;
  const signers = splitRingFile(bytes).signatures.length;
  const request = { keyspace, version, id, bytes: bytes.length, signers };
  const { wanted, active } = await server.call(ringOffer, request, timeoutMs);
  return wanted ? active : 'same';
}

async function sendChunks(
  server: Caller,
  { id, timeoutMs }: SentRing,
  bytes: Uint8Array,
): Promise<number> {
  for (let offset = 0; offset < bytes.length; offset += transferChunkBytesMax) {
    const data = bytes.subarray(offset, offset + transferChunkBytesMax);
    await server.call(ringChunk, { id, offset, data }, timeoutMs);
  }
  return bytes.length;
}

/** The ring itself may be fine: the base is no longer active, or the delta does not fit. */
function isDeltaRefused(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const refusals: ErrorCode[] = ['RING_DELTA_INVALID', 'RING_VERSION_UNKNOWN', 'USAGE'];
  return refusals.includes(error.code);
}
