// A program beside this one, for long work: requests go first where both want the processor.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { Socket } from 'node:net';
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

/** Of the shell: a line to it begins the program, one from it says that the program has ended. */
const GATE = 4;
/** The program's messages for the operator; the shell's own, of what was killed, go nowhere. */
const MESSAGES = 5;
/** The status of what a SIGTERM ended, as a shell says it. */
const TERMINATED = 143;

/** Runs the program each time it is told to, until that ends in another way than by SIGTERM. */
const SHELL = `trap : TERM
while read -r _ <&${GATE}; do
  (exec "$0" "$@" 2>&${MESSAGES})
  status=$?
  [ $status = ${TERMINATED} ] || exit $status
  echo >&${GATE}
done`;

/**
 * One process at a time. To fork one holds this process for as long as its memory is large: 30 ms
 * with 300 MB, 90 ms with 1 GB. So a shell is forked once, early (`park`), and has the channel; it
 * runs the program when that is needed, which takes ~100 ms and holds nobody. The program is kept
 * from one piece of work to the next. It holds this process only while it has work.
 */
export class BackgroundProcess<Order extends Serializable, Answer> {
  readonly #options: BackgroundOptions<Answer>;
  /** The shell: it leads a group, in which the program is. */
  #shell: ChildProcess | null = null;
  #running = false;
  /** Orders for the next program while the last one ends; null: none ends. */
  #held: Order[] | null = null;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: BackgroundOptions<Answer>) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Forks now what `start` needs, if that is not there. Throws what `fork` throws. */
  park(): void {
    this.#shell ??= this.#fork();
  }

  /** Returns whether it was not running. Throws what `fork` throws. */
  start(): boolean {
    if (this.#running) return false;
    this.park();
    this.#running = true;
    gateOf(this.#shell)?.write('\n');
    return true;
  }

  #fork(): ChildProcess {
    const shell = fork(this.#options.program, {
      execPath: '/bin/sh',
      execArgv: ['-c', SHELL, process.execPath],
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'ignore', 'ipc', 'pipe', 2],
      env: { ...process.env, ...KEEP_MEMORY },
    });
    const isCurrent = (): boolean => this.#shell === shell;
    shell.on('message', (answer: Answer) => {
      if (isCurrent() && this.#running && this.#held === null) this.#options.onAnswer(answer);
    });
    const lost = (why: string): void => {
      if (isCurrent()) this.#lose(why);
    };
    shell.once('error', ({ message }) => lost(message));
    shell.once('exit', (code, signal) => lost(`it ended with ${code ?? signal}`));
    const gate = gateOf(shell)?.unref();
    gate?.on('data', () => {
      if (this.#held === null) lost('it ended with SIGTERM');
      else if (isCurrent()) this.#sendHeld();
    });
    // The exit of the shell tells more.
    gate?.on('error', () => undefined);
    beNice(shell);
    holdBy(shell, false);
    return shell;
  }

  /** Does nothing when the process does not run or is about to end: `onLost` tells of that. */
  send(order: Order): void {
    if (!this.#running) return;
    if (this.#held !== null) this.#held.push(order);
    else this.#shell?.send(order, () => undefined);
  }

  #sendHeld(): void {
    const held = this.#held;
    this.#held = null;
    for (const order of held ?? []) this.send(order);
  }

  /** With work it keeps this process alive and is not ended; without, the time to its end begins. */
  hold(hasWork: boolean): void {
    clearTimeout(this.#idleTimer);
    if (this.#shell === null || !this.#running) return;
    holdBy(this.#shell, hasWork);
    if (hasWork) return;
    this.#idleTimer = setTimeout(() => this.#endIdle(), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  /** The shell stays. */
  #endIdle(): void {
    this.#running = false;
    this.#held = [];
    endGroup(this.#shell, 'SIGTERM');
    this.#options.onLost('it was idle');
  }

  /** It hangs: nothing but its end helps. */
  kill(): void {
    endGroup(this.#shell, 'SIGKILL');
  }

  /** Safe to repeat. */
  end(): void {
    clearTimeout(this.#idleTimer);
    const shell = this.#shell;
    this.#shell = null;
    this.#running = false;
    this.#held = null;
    endGroup(shell, 'SIGKILL');
  }

  #lose(why: string): void {
    const wasRunning = this.#running;
    this.end();
    if (wasRunning) this.#options.onLost(why);
  }
}

/** None where the shell could not be forked. */
function gateOf(shell: ChildProcess | null): Socket | null {
  const gate = shell?.stdio?.[GATE];
  return gate instanceof Socket ? gate : null;
}

/** Whether this process stays alive for it. */
function holdBy(shell: ChildProcess, holds: boolean): void {
  const change = holds ? 'ref' : 'unref';
  shell[change]();
  shell.channel?.[change]();
}

/** The shell and its program. */
function endGroup(shell: ChildProcess | null, signal: NodeJS.Signals): void {
  if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
  try {
    process.kill(-shell.pid, signal);
  } catch {
    // It has ended, and nobody has told so yet.
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
