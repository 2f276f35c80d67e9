// Sending a ring to a server: offered, then as a delta to the ring it has, or whole. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import type { Caller } from './call-channel.ts';
import type { RingHead } from './hello.ts';
import { ringChunk, ringDelta, ringOffer } from './rings.ts';

export interface SentRing extends RingHead {
  readonly bytes: Uint8Array;
  /** The delta from a ring the server has active; null: there is none, or it would not be small. */
  readonly deltaFrom: (base: RingHead) => Promise<Uint8Array | null>;
  /** For each call; the last one is answered when the ring is verified, stored and active. */
  readonly timeoutMs: number;
}

export interface Sending {
  /** had: the ring is active there already. */
  readonly how: 'had' | 'delta' | 'whole';
  /** Bytes of the ring or its deltas in chunks. */
  readonly bytesSent: number;
}

/**
 * Resolves when the server has the ring active. A delta that is refused as such is followed by the
 * whole file. Throws the server's refusals and what its Caller throws.
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

/** What the server has instead; 'same' when it wants nothing. */
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

/** The ring may be good all the same: the base went, or the delta does not fit. */
function isDeltaRefused(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const refusals: ErrorCode[] = ['RING_DELTA_INVALID', 'RING_VERSION_UNKNOWN', 'USAGE'];
  return refusals.includes(error.code);
}
