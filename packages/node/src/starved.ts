// Whether a process that wants to run gets any time of a processor.
import { readFileSync } from 'node:fs';

/** Nanoseconds since the start of its main thread. */
export interface TimesRun {
  readonly ran: number;
  /** It could have run, and others did. */
  readonly waited: number;
}

/** Less than what `nice` would give it beside two that are always busy. */
const STARVED_SHARE = 0.03;
/** Below, too little was asked for to tell. */
const WAITED_NS_MIN = 1e9;

/** Null where the system does not say, and for a process that has ended. */
export function timesRunOf(pid: number): TimesRun | null {
  try {
    const fields = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    const [ran = 0, waited = 0] = fields.map(Number);
    return { ran, waited };
  } catch {
    return null;
  }
}

export function isStarved(before: TimesRun, now: TimesRun): boolean {
  const ran = now.ran - before.ran;
  const waited = now.waited - before.waited;
  return waited >= WAITED_NS_MIN && ran < STARVED_SHARE * (ran + waited);
}
