// A load that goes on while something else happens: started, asked for its figures, ended.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { LoadFigures } from '../peers/redis-benchmark.ts';

export interface LoadSpec {
  readonly addresses: readonly string[];
  /** Calls a second; null: as many as are answered. */
  readonly perSecond: number | null;
  readonly inFlight: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly seed: number;
}

/** Since the last time they were asked for. */
export interface FixedRateFigures extends LoadFigures {
  /** The 99th percentile of each second. */
  readonly secondsP99Ms: readonly number[];
  /** That of the median second: what a few bad ones do not show in. */
  readonly usualP99Ms: number;
  /** Calls that failed; each was repeated until it succeeded. */
  readonly errors: number;
  readonly lastError: string;
  /** Longest time from when a key was to be written until it was. */
  readonly longestPutMs: number;
  readonly longestGetMs: number;
}

interface FixedRateLoad extends Disposable {
  readonly figures: () => Promise<FixedRateFigures>;
}

export async function startFixedRateLoad(spec: LoadSpec): Promise<FixedRateLoad> {
  const program = path.join(import.meta.dirname, '../fixed-rate-load.ts');
  const child = fork(program, [JSON.stringify(spec)]);
  const exited = once(child, 'exit').then(() => {
    throw new Error('the load ended by itself');
  });
  exited.catch(() => undefined); // told to whoever asks for figures
  const answer = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), exited])) as [unknown];
    return message;
  };
  await answer();
  return {
    figures: () => {
      const answered = answer();
      child.send('mark');
      return answered as Promise<FixedRateFigures>; // sent by fixed-rate-load.ts
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}
