// Runs in the worker thread of open-ring-in-worker.ts: takes the bytes of ring files, answers with
// the ring or with the error, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { CodedError } from '@ringwright/base/coded-error';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { type DecodedRing, openRing } from './open-ring.ts';
import type { WorkerAnswer } from './run-in-worker.ts';

export interface RingFilesSent {
  readonly file: SharedArrayBuffer;
  /** The file of the ring that is active. */
  readonly previous: SharedArrayBuffer | null;
}

function answerOf({ file, previous }: RingFilesSent): WorkerAnswer<DecodedRing> {
  try {
    const before = previous === null ? null : decodeRing(Buffer.from(previous));
    return { result: openRing(Buffer.from(file), before) };
  } catch (error) {
    if (error instanceof CodedError) return { error: error.toJSON() };
    throw error;
  }
}

/** The arrays change hands instead of being copied; the rows of a table share one buffer. */
function buffersOf({ ring }: DecodedRing): ArrayBuffer[] {
  const arrays = [...ring.table, ring.minVersions];
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
}

const answer = answerOf(workerData as RingFilesSent);
parentPort?.postMessage(answer, 'result' in answer ? buffersOf(answer.result) : []);
