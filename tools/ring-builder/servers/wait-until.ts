// Waiting for servers: a question asked again and again, with a line of progress when it changes,
// once a second at most.
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 100;
/** A server that was away for long is noticed within this. */
const POLL_MS_MAX = 1_000;
/** The pause grows by this share of the time without progress: a long wait must cost little. */
const IDLE_SHARE = 0.05;
const TELL_MS = 1_000;

interface Wait<Answer> {
  readonly ask: () => Promise<Answer>;
  readonly isDone: (answer: Answer) => boolean;
  /** Changes whenever there is progress; without any for stallMs the wait ends. */
  readonly progressOf: (answer: Answer) => string;
  /** What somebody may do about it; told when it is another than before. */
  readonly hintOf?: (answer: Answer) => Promise<string>;
  readonly stallMs: number;
  /** Between two questions, of which the last one took so long; 100 ms to 1 s by default. */
  readonly pause?: (tookMs: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly tell: (line: string) => void;
}

/** The last answer, and whether it was the one waited for. */
export async function waitUntil<Answer>(
  wait: Wait<Answer>,
): Promise<{ readonly answer: Answer; readonly done: boolean }> {
  let progress = '';
  let changedMs = wait.nowMs();
  let toldMs = changedMs;
  let [told, hinted] = ['', ''];
  for (;;) {
    const askedMs = wait.nowMs();
    const answer = await wait.ask();
    if (wait.isDone(answer)) return { answer, done: true };
    const now = wait.nowMs();
    const seen = wait.progressOf(answer);
    if (seen !== progress) [progress, changedMs] = [seen, now];
    if (now - changedMs > wait.stallMs) return { answer, done: false };
    if (now - toldMs >= TELL_MS && progress !== told) {
      wait.tell(progress);
      [told, toldMs] = [progress, now];
      const hint = (await wait.hintOf?.(answer)) ?? '';
      if (hint !== '' && hint !== hinted) wait.tell(`hint: ${hint}`);
      hinted = hint;
    }
    const longer = POLL_MS + IDLE_SHARE * (now - changedMs);
    await (wait.pause?.(wait.nowMs() - askedMs) ?? setTimeout(Math.min(longer, POLL_MS_MAX)));
  }
}
