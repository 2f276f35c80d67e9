// Collects garbage when we know better than V8 that it pays.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: ((type: 'minor' | 'major') => void) | null = null;

/** The youngest, in a millisecond; or all, in some 30 ms for each 50 MB that are in use. */
export function collectGarbage(type: 'minor' | 'major'): void {
  collect ??= collector();
  collect(type);
}

/** To be called with how much has come of what makes garbage: the youngest goes once in `most`. */
export function collectEach(most: number): (came: number) => void {
  let since = 0;
  return (came) => {
    since += came;
    if (since < most) return;
    since = 0;
    collectGarbage('minor');
  };
}

/** Nothing is collected on request from now on: `ring-server --plain-v8`. */
export function leaveGarbage(): void {
  collect = () => undefined;
}

/** Only what runs in a new context sees the function that the flag gives. */
function collector(): (type: 'minor' | 'major') => void {
  setFlagsFromString('--expose-gc');
  const collectNow = runInNewContext('gc') as NodeJS.GCFunction;
  return (type) => collectNow({ type });
}
