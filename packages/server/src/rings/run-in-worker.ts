// One job in a thread of its own, for rings that are too large for a turn of the event loop.
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { errorFromDocument } from '@ringwright/base/remote-error';

/** The one message of a thread; errors are those that CodedError.toJSON makes. */
export type WorkerAnswer<Result> = { readonly result: Result } | { readonly error: unknown };

/** Such jobs are rare: a thread is started for each (some 70 ms) and ends with it. */
export async function runInWorker<Result>(program: URL, workerData: unknown): Promise<Result> {
  const worker = new Worker(program, { workerData, execArgv: [] });
  const answer = await new Promise<WorkerAnswer<Result>>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of a ring ended with ${code}`)));
  });
  if ('error' in answer) throw errorFromDocument(answer.error);
  return answer.result;
}

/** Copied in several turns: 100 MB at once take as long as all else that is done here. */
export async function sharedCopy(bytes: Uint8Array): Promise<SharedArrayBuffer> {
  const shared = new SharedArrayBuffer(bytes.length);
  const copy = new Uint8Array(shared);
  for (let offset = 0; offset < bytes.length; offset += ringTurnBytesMax) {
    copy.set(bytes.subarray(offset, offset + ringTurnBytesMax), offset);
    await setImmediate();
  }
  return shared;
}
