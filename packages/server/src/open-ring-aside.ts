// Opens a large ring in a thread of its own, so that no turn of the event loop waits for it.
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { errorFromDocument } from '@ringwright/base/remote-error';
import type { ActiveRing } from './active-ring.ts';
import { type OpenedRing, openRing } from './open-ring.ts';
import type { FilesAside, OpenedAside } from './open-ring-worker.ts';

const PROGRAM = new URL('./open-ring-worker.ts', import.meta.url);

/**
 * Large rings are rare: a thread is started for each (some 70 ms) and ends with it. `previous`: the
 * ring to compare with, null where the size of the change does not matter. Rejects with what
 * decodeRing throws.
 */
export async function openRingAside(
  bytes: Uint8Array,
  previous: Pick<ActiveRing, 'ring' | 'id' | 'bytes'> | null,
): Promise<OpenedRing> {
  if (bytes.length <= ringTurnBytesMax) return openRing(bytes, previous);
  const workerData: FilesAside = {
    file: await sharedCopy(bytes),
    previous: previous === null ? null : await sharedCopy(previous.bytes),
  };
  const worker = new Worker(PROGRAM, { workerData, execArgv: [] });
  const answer = await new Promise<OpenedAside>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of a ring ended with ${code}`)));
  });
  if ('error' in answer) throw errorFromDocument(answer.error);
  return answer.opened;
}

/** Copied in several turns: 100 MB at once take as long as all else that is done here. */
async function sharedCopy(bytes: Uint8Array): Promise<SharedArrayBuffer> {
  const shared = new SharedArrayBuffer(bytes.length);
  const copy = new Uint8Array(shared);
  for (let offset = 0; offset < bytes.length; offset += ringTurnBytesMax) {
    copy.set(bytes.subarray(offset, offset + ringTurnBytesMax), offset);
    await setImmediate();
  }
  return shared;
}
