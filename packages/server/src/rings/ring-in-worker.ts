// Opens large rings, and makes and applies their deltas, in a worker thread, so that no turn of the
// event loop waits for that.
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
 * `previous`: the ring to compare with; null if the size of the change does not matter. Rejects
 * with what decodeRing throws.
 */
export async function openRingInWorker(
  bytes: Uint8Array,
  previous: Pick<ActiveRing, 'ring' | 'id' | 'bytes'> | null,
): Promise<DecodedRing> {
  if (bytes.length <= ringTurnBytesMax) return openRing(bytes, previous);
  const previousBytes = previous === null ? null : await sharedCopy(previous.bytes);
  return runInWorker({ kind: 'open', file: await sharedCopy(bytes), previous: previousBytes });
}

/** Like applyRingDelta. */
export async function applyRingDeltaInWorker(
  base: Uint8Array,
  delta: Uint8Array,
): Promise<Uint8Array> {
  if (base.length <= ringTurnBytesMax) return applyRingDelta(base, delta);
  return runInWorker({ kind: 'apply', base: await sharedCopy(base), delta });
}

/** Like makeRingDelta. */
export async function makeRingDeltaInWorker(
  base: Uint8Array,
  file: Uint8Array,
): Promise<Uint8Array | null> {
  if (file.length <= ringTurnBytesMax) return makeRingDelta(base, file);
  const shared = { base: await sharedCopy(base), file: await sharedCopy(file) };
  return runInWorker({ kind: 'make', ...shared });
}

/**
 * Such jobs are rare, so a thread is started for each (some 70 ms) and ends with it. In a bundle
 * the thread runs JavaScript. From sources, Node compiles TypeScript by WebAssembly, and V8 may
 * abort a process whose threads load it and end (`jit_page.has_value()`, nodejs/node#64500). So
 * ring-server names a cache folder for compiled code, and only the first thread on a machine
 * compiles.
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

/**
 * Copies in several turns: copying 100 MB at once takes as long as all the other work done here.
 */
async function sharedCopy(bytes: Uint8Array): Promise<SharedArrayBuffer> {
  const shared = new SharedArrayBuffer(bytes.length);
  const copy = new Uint8Array(shared);
  for (let offset = 0; offset < bytes.length; offset += ringTurnBytesMax) {
    copy.set(bytes.subarray(offset, offset + ringTurnBytesMax), offset);
    await setImmediate();
  }
  return shared;
}
