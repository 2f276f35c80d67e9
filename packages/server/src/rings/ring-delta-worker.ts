// Runs in the worker thread of ring-delta-in-worker.ts: makes or applies one delta, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { CodedError } from '@ringwright/base/coded-error';
import { applyRingDelta, makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { WorkerAnswer } from './run-in-worker.ts';

export type DeltaJob =
  | {
      readonly kind: 'apply';
      readonly base: SharedArrayBuffer;
      readonly delta: Uint8Array;
    }
  | {
      readonly kind: 'make';
      readonly base: SharedArrayBuffer;
      readonly file: SharedArrayBuffer;
    };

function answerOf(job: DeltaJob): WorkerAnswer<Uint8Array<ArrayBuffer> | null> {
  try {
    const base = Buffer.from(job.base);
    if (job.kind === 'apply') return { result: ownBytes(applyRingDelta(base, job.delta)) };
    const made = makeRingDelta(base, Buffer.from(job.file));
    return { result: made === null ? null : ownBytes(made) };
  } catch (error) {
    if (error instanceof CodedError) return { error: error.toJSON() };
    throw error;
  }
}

/** In a buffer of their own, which can change hands instead of being copied. */
function ownBytes(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.length;
  return isWhole ? new Uint8Array(bytes.buffer as ArrayBuffer) : Uint8Array.from(bytes);
}

const answer = answerOf(workerData as DeltaJob);
const isBytes = 'result' in answer && answer.result !== null;
parentPort?.postMessage(answer, isBytes ? [answer.result.buffer] : []);
