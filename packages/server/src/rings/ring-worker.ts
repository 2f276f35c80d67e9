// Runs in the thread of ring-in-worker.ts: does one job on the bytes of ring files, answers with
// the result or the error, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { CodedError } from '@ringwright/base/coded-error';
import { applyRingDelta, makeRingDelta } from '@ringwright/ring/file/ring-delta';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { type DecodedRing, openRing } from './open-ring.ts';

export type RingJob =
  | {
      readonly kind: 'open';
      readonly file: SharedArrayBuffer;
      /** The file of the active ring. */
      readonly previous: SharedArrayBuffer | null;
    }
  | { readonly kind: 'apply'; readonly base: SharedArrayBuffer; readonly delta: Uint8Array }
  | { readonly kind: 'make'; readonly base: SharedArrayBuffer; readonly file: SharedArrayBuffer };

/** The one message of the thread. Errors are in the form that CodedError.toJSON makes. */
export type WorkerAnswer<Result> = { readonly result: Result } | { readonly error: unknown };

type Result = DecodedRing | Uint8Array<ArrayBuffer> | null;

function resultOf(job: RingJob): Result {
  if (job.kind === 'open') {
    const previous = job.previous === null ? null : decodeRing(Buffer.from(job.previous));
    return openRing(Buffer.from(job.file), previous);
  }
  const base = Buffer.from(job.base);
  if (job.kind === 'apply') return ownBytes(applyRingDelta(base, job.delta));
  const delta = makeRingDelta(base, Buffer.from(job.file));
  return delta === null ? null : ownBytes(delta);
}

/** Returns the bytes in a buffer of their own, which can be transferred instead of copied. */
function ownBytes(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.length;
  return isWhole ? new Uint8Array(bytes.buffer as ArrayBuffer) : Uint8Array.from(bytes);
}

/** Returns the buffers to transfer instead of copying; the rows of a table share one buffer. */
function buffersOf(result: Result): ArrayBuffer[] {
  if (result === null) return [];
  if (result instanceof Uint8Array) return [result.buffer];
  const arrays = [...result.ring.table, result.ring.minVersions];
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
}

try {
  const result = resultOf(workerData as RingJob);
  parentPort?.postMessage({ result } satisfies WorkerAnswer<Result>, buffersOf(result));
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  parentPort?.postMessage({ error: error.toJSON() } satisfies WorkerAnswer<Result>);
}
