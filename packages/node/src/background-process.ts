// A program beside this one, for long work: requests go first where both want the processor.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { setPriority } from 'node:os';

/** A piece that is longer comes from the kernel, and goes back to it: what glibc allows at most. */
const KEPT_PIECE_BYTES = 32 * 1024 * 1024;
/** So much may be free before glibc gives any back. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * With these in its environment the C library of Linux keeps what is freed. To give the kernel a
 * piece of 256 KiB and to take it again is 64 page faults: half of the kernel's time when files are
 * given, and three quarters when they are taken. Other systems ignore the names.
 */
const KEEP_MEMORY = {
  MALLOC_MMAP_THRESHOLD_: String(KEPT_PIECE_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(KEPT_BYTES),
};

/**
 * The priority, as `nice` counts it: the process gets a tenth of a processor that requests want
 * too. With 19 it would get a hundredth, and a busy server could never hand over its partitions.
 */
const NICE = 10;

export interface BackgroundOptions<Answer> {
  readonly program: URL;
  /** Without work for this long it is ended: it holds ~45 MB. */
  readonly idleMsMax: number;
  readonly onAnswer: (answer: Answer) => void;
  /** It has ended, whatever the reason, or could not begin; not called after `end`. */
  readonly onLost: (why: string) => void;
}

/**
 * One process at a time. Starting it costs ~100 ms, so it is kept from one piece of work to the
 * next. It holds this process only while it has work.
 */
export class BackgroundProcess<Order extends Serializable, Answer> {
  readonly #options: BackgroundOptions<Answer>;
  #child: ChildProcess | null = null;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: BackgroundOptions<Answer>) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** Returns whether it was not running. Throws what `fork` throws. */
  start(): boolean {
    if (this.#child !== null) return false;
    const child = fork(this.#options.program, {
      execArgv: [],
      serialization: 'advanced',
      env: { ...process.env, ...KEEP_MEMORY },
    });
    this.#child = child;
    child.on('message', (answer: Answer) => {
      if (this.#child === child) this.#options.onAnswer(answer);
    });
    const lost = (why: string): void => {
      if (this.#child === child) this.#lose(why);
    };
    child.once('error', ({ message }) => lost(message));
    child.once('exit', (code, signal) => lost(`it ended with ${code ?? signal}`));
    beNice(child);
    return true;
  }

  /** Does nothing when the process does not run or is about to end: `onLost` tells of that. */
  send(order: Order): void {
    this.#child?.send(order, () => undefined);
  }

  /** With work it keeps this process alive and is not ended; without, the time to its end begins. */
  hold(hasWork: boolean): void {
    const child = this.#child;
    clearTimeout(this.#idleTimer);
    if (child === null) return;
    if (hasWork) {
      child.ref();
      child.channel?.ref();
      return;
    }
    child.unref();
    child.channel?.unref();
    this.#idleTimer = setTimeout(() => this.#lose('it was idle'), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  /** It hangs: nothing but its end helps. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Safe to repeat. */
  end(): void {
    clearTimeout(this.#idleTimer);
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
  }

  #lose(why: string): void {
    this.end();
    this.#options.onLost(why);
  }
}

/** Linux takes the priority at the disk from that at the processor. */
function beNice({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICE);
  } catch {
    // This process has a lower priority than that, and may not raise another.
  }
}
