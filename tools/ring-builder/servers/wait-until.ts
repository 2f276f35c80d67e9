// Polls servers until a condition holds. Prints a progress line when it changes, at most once a
// second.
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 100;
/** Longest pause: the return of a server is noticed within it. */
const POLL_MS_MAX = 1_000;
/** The pause grows by this share of the time without progress, so a long wait costs little. */
const IDLE_SHARE = 0.05;
const TELL_MS = 1_000;

interface Wait<Answer> {
  readonly ask: () => Promise<Answer>;
  readonly isDone: (answer: Answer) => boolean;
  /** Must change with every progress. The wait ends after stallMs without a change. */
  readonly progressOf: (answer: Answer) => string;
  /** What the operator can do; printed when it changes. */
  readonly hintOf?: (answer: Answer) => Promise<string>;
  readonly stallMs: number;
  /** Pauses between two polls, of which the last took `tookMs`; default 100 ms to 1 s. */
  readonly pause?: (tookMs: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly tell: (line: string) => void;
}

/** Returns the last answer, and whether it met the condition. */
export async function waitUntil<Answer>(
  wait: Wait<Answer>,
): Promise<{ readonly answer: Answer; readonly done: boolean }> {
  let progress = '';
  let changedMs = wait.nowMs();
  let printedMs = changedMs;
  let [lastProgress, lastHint] = ['', ''];
  for (;;) {
    const askedMs = wait.nowMs();
    const answer = await wait.ask();
    if (wait.isDone(answer)) return { answer, done: true };
    const now = wait.nowMs();
    const current = wait.progressOf(answer);
    if (current !== progress) [progress, changedMs] = [current, now];
    if (now - changedMs > wait.stallMs) return { answer, done: false };
    if (now - printedMs >= TELL_MS && progress !== lastProgress) {
      wait.tell(progress);
      [lastProgress, printedMs] = [progress, now];
      const hint = (await wait.hintOf?.(answer)) ?? '';
      if (hint !== '' && hint !== lastHint) wait.tell(`hint: ${hint}`);
      lastHint = hint;
    }
    const longer = POLL_MS + IDLE_SHARE * (now - changedMs);
    await (wait.pause?.(wait.nowMs() - askedMs) ?? setTimeout(Math.min(longer, POLL_MS_MAX)));
  }
}
