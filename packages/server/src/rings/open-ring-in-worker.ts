// Opens a large ring in a thread of its own, so that no turn of the event loop waits for it.
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import type { ActiveRing } from './active-ring.ts';
import { type DecodedRing, openRing } from './open-ring.ts';
import type { RingFilesSent } from './open-ring-worker.ts';
import { runInWorker, sharedCopy } from './run-in-worker.ts';

const PROGRAM = new URL('./open-ring-worker.ts', import.meta.url);

/**
 * `previous`: the ring to compare with, null where the size of the change does not matter. Rejects
 * with what decodeRing throws.
 */
export async function openRingInWorker(
  bytes: Uint8Array,
  previous: Pick<ActiveRing, 'ring' | 'id' | 'bytes'> | null,
): Promise<DecodedRing> {
  if (bytes.length <= ringTurnBytesMax) return openRing(bytes, previous);
  const files: RingFilesSent = {
    file: await sharedCopy(bytes),
    previous: previous === null ? null : await sharedCopy(previous.bytes),
  };
  return runInWorker(PROGRAM, files);
}
