// Large rings are opened, and their deltas made and applied, in a thread of their own, so that no
// turn of the event loop waits for them.
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { applyRingDelta, makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { ActiveRing } from './active-ring.ts';
import { type DecodedRing, openRing } from './open-ring.ts';
import type { RingJob, WorkerAnswer } from './ring-worker.ts';

const PROGRAM = new URL('./ring-worker.ts', import.meta.url);

/**
 * `previous`: the ring to compare with, null where the size of the change does not matter. Rejects
 * with what decodeRing throws.
 */
export async function openRingInWorker(
  bytes: Uint8Array,
  previous: Pick<ActiveRing, 'ring' | 'id' | 'bytes'> | null,
): Promise<DecodedRing> {
  if (bytes.length <= ringTurnBytesMax) return openRing(bytes, previous);
  const before = previous === null ? null : await sharedCopy(previous.bytes);
  return runInWorker({ kind: 'open', file: await sharedCopy(bytes), previous: before });
}

/** As applyRingDelta. */
export async function applyRingDeltaInWorker(
  base: Uint8Array,
  delta: Uint8Array,
): Promise<Uint8Array> {
  if (base.length <= ringTurnBytesMax) return applyRingDelta(base, delta);
  return runInWorker({ kind: 'apply', base: await sharedCopy(base), delta });
}

/** As makeRingDelta. */
export async function makeRingDeltaInWorker(
  base: Uint8Array,
  file: Uint8Array,
): Promise<Uint8Array | null> {
  if (file.length <= ringTurnBytesMax) return makeRingDelta(base, file);
  const shared = { base: await sharedCopy(base), file: await sharedCopy(file) };
  return runInWorker({ kind: 'make', ...shared });
}

/**
 * Such jobs are rare: a thread is started for each (some 70 ms) and ends with it. In a bundle it is
 * JavaScript. Node's compiler of TypeScript is WebAssembly, and V8 may end a process whose threads
 * load it and end (`jit_page.has_value()`, nodejs/node#64500): where sources are run, only the
 * first thread on a machine compiles, since ring-server names a folder for what Node compiles.
 */
async function runInWorker<Result>(workerData: RingJob): Promise<Result> {
  const worker = new Worker(PROGRAM, { workerData, execArgv: [] });
  const answer = await new Promise<WorkerAnswer<Result>>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of a ring ended with ${code}`)));
  });
  if ('error' in answer) throw errorFromDocument(answer.error);
  return answer.result;
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
