// Fetching the active ring of a keyspace from the other end, chunk by chunk, as a delta where that
// is possible. Rings check themselves when they are decoded. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs, ringFileBytesMax } from '@ringwright/base/limits';
import type { Caller } from './call-channel.ts';
import type { RingHead } from './hello.ts';
import { ringFetch } from './rings.ts';

export interface FetchedRing {
  readonly bytes: Uint8Array;
  /** The id that the other end gives the ring. */
  readonly id: string;
  /** What was fetched is a delta to the ring that was named as base. */
  readonly isDelta: boolean;
}

/**
 * The bytes of the ring file the peer has active, at its version of the moment of the first chunk.
 */
export async function fetchRing(peer: Caller, keyspace: string): Promise<Uint8Array> {
  return (await fetchRingFor(peer, keyspace, null)).bytes;
}

/** What makes that file: a delta to `base`, a ring that is here, if the peer can; or the file. */
export async function fetchRingFor(
  peer: Caller,
  keyspace: string,
  base: RingHead | null,
): Promise<FetchedRing> {
  const about = { keyspace, base };
  const first = await peer.call(ringFetch, { ...about, id: null, offset: 0 }, peerCallTimeoutMs);
  const { id, isDelta, bytes } = first;
  if (bytes > ringFileBytesMax) {
    throw new CodedError(
      'RING_TOO_LARGE',
      `a ring of ${bytes} bytes, ${ringFileBytesMax} is the most`,
    );
  }
  const chunks = [first.data];
  let received = first.data.length;
  while (received < bytes) {
    const next = await peer.call(ringFetch, { ...about, id, offset: received }, peerCallTimeoutMs);
    if (next.data.length === 0) throw new CodedError('PEER_FAILED', 'a ring chunk came back empty');
    if (next.isDelta !== isDelta || next.bytes !== bytes) {
      throw new CodedError(
        'PEER_FAILED',
        `a ring of ${bytes} bytes became ${next.bytes} on the way`,
      );
    }
    chunks.push(next.data);
    received += next.data.length;
  }
  return { bytes: Buffer.concat(chunks), id, isDelta };
}

/** The first bytes of the ring the peer has active under this id: its manifest is among them. */
export async function fetchRingStart(
  peer: Caller,
  { keyspace, id }: RingHead,
): Promise<Uint8Array> {
  const request = { keyspace, id, base: null, offset: 0 };
  return (await peer.call(ringFetch, request, peerCallTimeoutMs)).data;
}
