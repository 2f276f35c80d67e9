// A program beside this one, for long work: requests go first where both want the processor.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

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
 * What `nice` adds to its priority: it gets a tenth of a processor that requests want too. With 19
 * it would get a hundredth, and a busy server could never hand over its partitions. Linux takes the
 * priority at the disk from that.
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

/** Of the shell: it says the number that the program will have, and a line to it begins that. */
const GATE = 4;
/** The program's messages for the operator; the shell's own, of what was killed, go nowhere. */
const MESSAGES = 5;
/** The status of what a SIGTERM ended, as a shell says it. */
const TERMINATED = 143;

/** A shell that becomes the program when it is told to. */
const ONE_RUN = `echo $$ >&${GATE}
read -r _ <&${GATE} && exec nice -n ${NICE} "$0" "$@" 2>&${MESSAGES}`;
/**
 * Runs one after the other, until one ends in another way than by SIGTERM. Not in a session of its
 * own: Linux gives each session as much of the processor, however nice it is.
 */
const SHELL = `while :; do
  /bin/sh -c '${ONE_RUN}' "$0" "$@"
  status=$?
  [ $status = ${TERMINATED} ] || exit $status
done`;

/**
 * One process at a time. To fork one holds this process for as long as its memory is large: 30 ms
 * with 300 MB, 90 ms with 1 GB. So a shell is forked once, early (`park`), and has the channel; it
 * runs the program when that is needed, which takes ~100 ms and holds nobody. The program is kept
 * from one piece of work to the next. It holds this process only while it has work.
 */
export class BackgroundProcess<Order extends Serializable, Answer> {
  readonly #options: BackgroundOptions<Answer>;
  #shell: ChildProcess | null = null;
  /** Of the program that was told of last. */
  #pid: number | null = null;
  /** Of that program; without a number, and while the last one ends, there is none. */
  #stage: 'none' | 'parked' | 'begun' = 'none';
  #wanted = false;
  /** Orders for a program that has not begun. */
  #held: Order[] = [];
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: BackgroundOptions<Answer>) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#wanted;
  }

  /** Forks now what `start` needs, if that is not there. Throws what `fork` throws. */
  park(): void {
    this.#shell ??= this.#fork();
  }

  /** Returns whether it was not running. Throws what `fork` throws. */
  start(): boolean {
    if (this.#wanted) return false;
    this.park();
    this.#wanted = true;
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
    const lost = (why: string): void => {
      if (isCurrent()) this.#lose(why);
    };
    shell.once('error', ({ message }) => lost(message));
    shell.once('exit', (code, signal) => lost(`it ended with ${code ?? signal}`));
    const gate = gateOf(shell);
    if (gate !== null) {
      const lines = createInterface({ input: gate.unref() });
      lines.on('line', (pid) => {
        if (isCurrent()) this.#hear(Number(pid));
      });
      lines.on('error', () => undefined); // the exit of the shell tells more
    }
    holdBy(shell, false);
    return shell;
  }

  /** The next program is parked, and the last one has ended. */
  #hear(pid: number): void {
    if (this.#stage === 'begun') return this.#lose('it ended with SIGTERM');
    this.#pid = pid;
    this.#stage = 'parked';
    this.#beginParked();
  }

  #beginParked(): void {
    if (!this.#wanted || this.#stage !== 'parked') return;
    this.#stage = 'begun';
    gateOf(this.#shell)?.write('\n');
    for (const order of this.#held.splice(0)) this.#post(order);
  }

  /** Does nothing when the process was not started, or has been lost: `onLost` has told of that. */
  send(order: Order): void {
    if (!this.#wanted) return;
    if (this.#stage === 'begun') this.#post(order);
    else this.#held.push(order);
  }

  #post(order: Order): void {
    this.#shell?.send(order, () => undefined);
  }

  /** With work it keeps this process alive and is not ended; without, the time to its end begins. */
  hold(hasWork: boolean): void {
    clearTimeout(this.#idleTimer);
    if (this.#shell === null || !this.#wanted) return;
    holdBy(this.#shell, hasWork);
    if (hasWork) return;
    this.#idleTimer = setTimeout(() => this.#endIdle(), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  /** The shell stays. */
  #endIdle(): void {
    this.#wanted = false;
    this.#held = [];
    if (this.#stage === 'begun') {
      this.#stage = 'none';
      endProgram(this.#pid, 'SIGTERM');
    }
    this.#options.onLost('it was idle');
  }

  /** It hangs: nothing but its end helps. */
  kill(): void {
    this.#shell?.kill('SIGKILL');
    endProgram(this.#pid, 'SIGKILL');
  }

  /** Safe to repeat. */
  end(): void {
    clearTimeout(this.#idleTimer);
    this.kill();
    // One that nobody has told of yet ends by this.
    gateOf(this.#shell)?.destroy();
    this.#shell = null;
    this.#pid = null;
    this.#stage = 'none';
    this.#wanted = false;
    this.#held = [];
  }

  #lose(why: string): void {
    const wasWanted = this.#wanted;
    this.end();
    if (wasWanted) this.#options.onLost(why);
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

function endProgram(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, and nobody has told so yet.
  }
}
