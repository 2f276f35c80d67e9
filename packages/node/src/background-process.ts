// A helper program beside this process, for long work. Requests go first when both need the CPU.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { progressOf, watchProgress } from './process-progress.ts';

/** Larger blocks come from the kernel and are returned to it: the maximum that glibc allows. */
const KEPT_PIECE_BYTES = 32 * 1024 * 1024;
/** Free memory that glibc keeps before it returns any. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** A killed process that lives on for this long is stuck in the kernel. */
const KILL_MS_MAX = 5_000;

/**
 * Environment variables that make Linux's C library keep freed memory. Returning a block of 256 KiB
 * to the kernel and getting it again costs 64 page faults: half of the kernel's time when files are
 * sent, and three quarters when they are received. Other systems ignore the names.
 */
const KEEP_MEMORY = {
  MALLOC_MMAP_THRESHOLD_: String(KEPT_PIECE_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(KEPT_BYTES),
};

/**
 * Added to the process's priority by `nice`: it gets a tenth of a CPU that requests need too. With
 * 19 it would get a hundredth, and a busy server could never hand over its partitions. Linux
 * derives the I/O priority from it.
 */
const NICE = 10;

export interface BackgroundOptions<Answer, Order = never> {
  readonly program: URL;
  /** The process is ended after this time without work: it holds ~45 MB. */
  readonly idleMsMax: number;
  /**
   * A process with work that makes no progress for this long is killed; absent: it may take any
   * time. See watchProgress.
   */
  readonly stallMsMax?: number;
  /** An order without effect, sent before each look: a process that waits for work wakes up. */
  readonly wakeOrder?: () => Order;
  readonly onAnswer: (answer: Answer) => void;
  /**
   * Called when the process has ended for any reason, or could not start; not called after `end`.
   */
  readonly onLost: (why: string) => void;
}

/**
 * File descriptor of the shell. The shell writes the program's pid to it, and a line written to it
 * starts the program.
 */
const CONTROL_FD = 4;
/**
 * Descriptor for the program's messages to the operator. The shell's own messages, about killed
 * programs, are discarded.
 */
const MESSAGES = 5;
/** Exit status after a SIGTERM, as a shell reports it. */
const TERMINATED = 143;

/** A shell that waits for a line and then becomes the program. */
const ONE_RUN = `echo $$ >&${CONTROL_FD}
read -r _ <&${CONTROL_FD} && exec nice -n ${NICE} "$0" "$@" 2>&${MESSAGES}`;
/**
 * Runs one program after the other until one ends in another way than by SIGTERM. Not in a session
 * of its own: Linux gives each session an equal share of the CPU, whatever its nice value.
 */
const SHELL = `while :; do
  /bin/sh -c '${ONE_RUN}' "$0" "$@"
  status=$?
  [ $status = ${TERMINATED} ] || exit $status
done`;

/**
 * Runs one process at a time. A fork blocks this process in proportion to its memory: 30 ms with
 * 300 MB, 90 ms with 1 GB. So a shell is forked once, early (`park`), and owns the channel. It
 * starts the program when needed, which takes ~100 ms and blocks nothing. The program is kept
 * between pieces of work. It keeps this process alive only while it has work.
 */
export class BackgroundProcess<Order extends Serializable, Answer> {
  readonly #options: BackgroundOptions<Answer, Order>;
  #shell: ChildProcess | null = null;
  /** Pid of the program that the shell reported last. */
  #pid: number | null = null;
  /** State of that program; `none` if no pid is known, and while the previous program ends. */
  #stage: 'none' | 'parked' | 'begun' = 'none';
  #isStarted = false;
  /** Orders for a program that has not started. */
  #queuedOrders: Order[] = [];
  #idleTimer: NodeJS.Timeout | undefined;
  #stopWatch: (() => void) | null = null;
  /** Why the program is being killed; null: it is not. */
  #killReason: string | null = null;
  /** Whether the program was killed and has not ended: it waits for a disk that does not answer. */
  #isStuck = false;

  constructor(options: BackgroundOptions<Answer, Order>) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#isStarted;
  }

  /** Forks the shell that `start` needs, unless it exists. Throws what `fork` throws. */
  park(): void {
    this.#shell ??= this.#fork();
  }

  /**
   * Returns false if the process was running already. Throws what `fork` throws, and an Error while
   * a killed process does not end: with each new one more would hang.
   */
  start(): boolean {
    if (this.#isStarted) return false;
    if (this.#isStuck) throw new Error('the process before it was killed and does not end');
    this.park();
    this.#isStarted = true;
    this.#beginParked();
    return true;
  }

  #fork(): ChildProcess {
    const shell = fork(this.#options.program, {
      execPath: '/bin/sh',
      execArgv: ['-c', SHELL, process.execPath],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'ignore', 'ipc', 'pipe', 2],
      env: { ...process.env, ...KEEP_MEMORY },
    });
    const isCurrent = (): boolean => this.#shell === shell;
    shell.on('message', (answer: Answer) => {
      if (isCurrent() && this.#stage === 'begun') this.#options.onAnswer(answer);
    });
    const onEnd = (why: string): void => {
      if (isCurrent()) this.#lose(why);
    };
    shell.once('error', ({ message }) => onEnd(message));
    shell.once('exit', (code, signal) => onEnd(`it ended with ${code ?? signal}`));
    const controlPipe = controlPipeOf(shell);
    if (controlPipe !== null) {
      const lines = createInterface({ input: controlPipe.unref() });
      lines.on('line', (pid) => {
        if (isCurrent()) this.#onParked(Number(pid));
      });
      lines.on('error', () => undefined); // the shell's exit tells more
    }
    holdBy(shell, false);
    return shell;
  }

  /** The shell has parked the next program, so the previous one has ended. */
  #onParked(pid: number): void {
    if (this.#stage === 'begun') return this.#lose('it ended with SIGTERM');
    this.#pid = pid;
    this.#stage = 'parked';
    this.#beginParked();
  }

  #beginParked(): void {
    if (!this.#isStarted || this.#stage !== 'parked') return;
    this.#stage = 'begun';
    controlPipeOf(this.#shell)?.write('\n');
    for (const order of this.#queuedOrders.splice(0)) this.#post(order);
  }

  /** Does nothing if the process was not started or has been lost: `onLost` has reported that. */
  send(order: Order): void {
    if (!this.#isStarted) return;
    if (this.#stage === 'begun') this.#post(order);
    else this.#queuedOrders.push(order);
  }

  #post(order: Order): void {
    this.#shell?.send(order, () => undefined);
  }

  /**
   * A process with work keeps this process alive and is not ended. Without work its idle time
   * starts.
   */
  hold(hasWork: boolean): void {
    clearTimeout(this.#idleTimer);
    if (this.#shell === null || !this.#isStarted) return;
    holdBy(this.#shell, hasWork);
    if (hasWork) {
      this.#stopWatch ??= this.#watch();
      return;
    }
    this.#endWatch();
    this.#idleTimer = setTimeout(() => this.#endIdle(), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  /** Ends the idle program and keeps the shell. */
  #endIdle(): void {
    this.#isStarted = false;
    this.#queuedOrders = [];
    if (this.#stage === 'begun') {
      this.#stage = 'none';
      endProgram(this.#pid, 'SIGTERM');
    }
    this.#options.onLost('it was idle');
  }

  #watch(): () => void {
    const { stallMsMax, wakeOrder } = this.#options;
    if (stallMsMax === undefined) return () => undefined;
    const progress = (): string | null => {
      if (wakeOrder !== undefined) this.send(wakeOrder());
      if (this.#stage !== 'begun' || this.#pid === null) return 'not begun';
      return progressOf(this.#pid);
    };
    const onStall = (): void => this.kill(`it made no progress for ${stallMsMax / 1000} s`);
    return watchProgress(progress, { stallMsMax, onStall });
  }

  #endWatch(): void {
    this.#stopWatch?.();
    this.#stopWatch = null;
  }

  /**
   * Kills a process that hangs. Its shell ends after it. If the program does not end, because the
   * kernel waits for a disk, it is reported as lost all the same.
   */
  kill(why: string): void {
    if (this.#killReason !== null || this.#shell === null) return;
    this.#killReason = why;
    if (this.#stage !== 'begun') this.#shell.kill('SIGKILL');
    endProgram(this.#pid, 'SIGKILL');
    const shell = this.#shell;
    setTimeout(() => {
      if (this.#shell !== shell || !this.#isStarted) return;
      this.#endWatch();
      holdBy(shell, false);
      [this.#isStuck, this.#isStarted] = [true, false];
      this.#queuedOrders = [];
      this.#options.onLost(`${why}, and it cannot be killed: its disk does not answer`);
    }, KILL_MS_MAX).unref();
  }

  /** Idempotent. */
  end(): void {
    clearTimeout(this.#idleTimer);
    this.#endWatch();
    this.#shell?.kill('SIGKILL');
    endProgram(this.#pid, 'SIGKILL');
    // Also ends a program whose pid is not known yet.
    controlPipeOf(this.#shell)?.destroy();
    this.#shell = null;
    this.#pid = null;
    this.#stage = 'none';
    [this.#isStarted, this.#isStuck] = [false, false];
    this.#killReason = null;
    this.#queuedOrders = [];
  }

  #lose(why: string): void {
    const [wasStarted, killReason] = [this.#isStarted, this.#killReason];
    this.end();
    if (wasStarted) this.#options.onLost(killReason ?? why);
  }
}

/** Null if the shell could not be forked. */
function controlPipeOf(shell: ChildProcess | null): Socket | null {
  const controlPipe = shell?.stdio?.[CONTROL_FD];
  return controlPipe instanceof Socket ? controlPipe : null;
}

/** Sets whether the shell keeps this process alive. */
function holdBy(shell: ChildProcess, holds: boolean): void {
  const change = holds ? 'ref' : 'unref';
  shell[change]();
  shell.channel?.[change]();
}

function endProgram(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, and its end has not been reported yet.
  }
}
