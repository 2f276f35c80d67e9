// Makes and applies deltas of large rings in a thread of their own: each reads two whole files.
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { applyRingDelta, makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { DeltaJob } from './ring-delta-worker.ts';
import { runInWorker, sharedCopy } from './run-in-worker.ts';

const PROGRAM = new URL('./ring-delta-worker.ts', import.meta.url);

/** As applyRingDelta. */
export async function applyRingDeltaInWorker(
  base: Uint8Array,
  delta: Uint8Array,
): Promise<Uint8Array> {
  if (base.length <= ringTurnBytesMax) return applyRingDelta(base, delta);
  const job: DeltaJob = { kind: 'apply', base: await sharedCopy(base), delta };
  return runInWorker(PROGRAM, job);
}

/** As makeRingDelta. */
export async function makeRingDeltaInWorker(
  base: Uint8Array,
  file: Uint8Array,
): Promise<Uint8Array | null> {
  if (file.length <= ringTurnBytesMax) return makeRingDelta(base, file);
  const job: DeltaJob = {
    kind: 'make',
    base: await sharedCopy(base),
    file: await sharedCopy(file),
  };
  return runInWorker(PROGRAM, job);
}
