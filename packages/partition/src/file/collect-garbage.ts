// Collects garbage when we know better than V8 that it pays.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | null = null;

/** The youngest, in a millisecond; or all, in some 30 ms for each 50 MB that are in use. */
export function collectGarbage(type: 'minor' | 'major'): void {
  collect ??= collector();
  collect({ type });
}

/** Only what runs in a new context sees the function that the flag gives. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
}
