// Fetching the active ring of a keyspace from the other end, chunk by chunk. Rings check themselves
// when they are decoded. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs, ringFileBytesMax } from '@ringwright/base/limits';
import type { Caller } from './call-channel.ts';
import { ringFetch } from './rings.ts';

/**
 * The bytes of the ring file the peer has active, at its version of the moment of the first chunk.
 */
export async function fetchRing(peer: Caller, keyspace: string): Promise<Uint8Array> {
  const first = await peer.call(ringFetch, { keyspace, id: null, offset: 0 }, peerCallTimeoutMs);
  if (first.bytes > ringFileBytesMax) {
    throw new CodedError(
      'RING_TOO_LARGE',
      `a ring of ${first.bytes} bytes, ${ringFileBytesMax} is the most`,
    );
  }
  const chunks = [first.data];
  let received = first.data.length;
  while (received < first.bytes) {
    const request = { keyspace, id: first.id, offset: received };
    const { data } = await peer.call(ringFetch, request, peerCallTimeoutMs);
    if (data.length === 0) throw new CodedError('PEER_FAILED', 'a ring chunk came back empty');
    chunks.push(data);
    received += data.length;
  }
  return Buffer.concat(chunks);
}
