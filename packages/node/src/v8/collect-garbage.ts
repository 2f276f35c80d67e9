// Triggers garbage collection where this program knows better than V8 that it pays off.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: ((type: 'minor' | 'major') => void) | null = null;

/** minor: the young generation, in a millisecond. major: everything, ~30 ms per 50 MB in use. */
export function collectGarbage(type: 'minor' | 'major'): void {
  collect ??= collector();
  collect(type);
}

/**
 * Returns a function to be called with each amount of garbage made: one minor collection per
 * `most`.
 */
export function collectEach(most: number): (amount: number) => void {
  let uncollected = 0;
  return (amount) => {
    uncollected += amount;
    if (uncollected < most) return;
    uncollected = 0;
    collectGarbage('minor');
  };
}

/** Disables collection on request from now on: `ring-server --plain-v8`. */
export function leaveGarbage(): void {
  collect = () => undefined;
}

/** Only code in a new context sees the function that the flag provides. */
function collector(): (type: 'minor' | 'major') => void {
  setFlagsFromString('--expose-gc');
  const collectNow = runInNewContext('gc') as NodeJS.GCFunction;
  return (type) => collectNow({ type });
}
