// The process beside a store that gives and takes copies: no byte of them passes through this one.
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { CodedError } from '@ringwright/base/coded-error';
import { sideProcessPriority } from '@ringwright/base/limits-copies';
import { keepMemory } from '@ringwright/node/keep-memory';
import type { CopyAnswer, CopyOrder, CopyReport } from './copy-work.ts';

export interface CopyProcessOptions {
  /** Where other servers' processes reach it. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** A process without work for this long is ended. */
  readonly idleMsMax: number;
  /** The program; tests give one that misbehaves. */
  readonly program?: URL;
}

export interface CopyRates {
  /** Bytes per second; null: no limit. */
  readonly given: number | null;
  readonly taken: number | null;
}

/** What happens to one copy; after `onLost` nothing more does. */
export interface CopyTask {
  onReport(report: CopyReport): void;
  /** The process has ended. */
  onLost(error: CodedError): void;
}

type OrderOf<Order> = Order extends { readonly id: number } ? Omit<Order, 'id'> : never;

/** Orders of one copy, without its number. */
export type TaskOrder = OrderOf<CopyOrder>;

const PROGRAM = new URL('./copy-program.ts', import.meta.url);

/**
 * It stands back: the scheduler gives it what requests leave. When it dies, its copies end and the
 * next one gets a new process. It holds this process only while it has work.
 */
export class CopyProcess {
  readonly #options: CopyProcessOptions;
  readonly #tasks = new Map<number, CopyTask>();
  #child: ChildProcess | null = null;
  #port: Promise<number> | null = null;
  #heard: (answer: CopyAnswer) => void = () => undefined;
  #rates: CopyRates = { given: null, taken: null };
  #nextId = 1;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: CopyProcessOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** Of what it gives and takes from now on. */
  setRates(rates: CopyRates): void {
    this.#rates = rates;
    this.#child?.send({ kind: 'rates', ...rates } satisfies CopyOrder, noMatter);
  }

  /** Resolves to where it listens, which starts it. Rejects when it cannot, or when it dies. */
  async port(): Promise<number> {
    this.#started();
    return this.#port ?? Promise.reject(lost('it is not started'));
  }

  /** The function returned gives orders of this copy; `end` is the last. Throws STORE_CLOSED. */
  begin(task: CopyTask): (order: TaskOrder) => void {
    const id = this.#nextId++;
    this.#tasks.set(id, task);
    this.#hold(this.#started());
    return (order) => {
      if (!this.#tasks.has(id)) return;
      // The form of an order is that without its number, with it.
      this.#started().send({ ...order, id } as CopyOrder, noMatter);
      if (order.kind === 'end') this.#end(id);
    };
  }

  /** It hangs: nothing but its end helps. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Ends it, and all its copies. Safe to repeat. */
  close(): void {
    this.#closed = true;
    this.#stop('the store is closed');
  }

  /** Throws STORE_CLOSED, and what `fork` throws. */
  #started(): ChildProcess {
    if (this.#closed) throw new CodedError('STORE_CLOSED', 'the store is closed');
    this.#child ??= this.#start();
    return this.#child;
  }

  #start(): ChildProcess {
    const program = this.#options.program ?? PROGRAM;
    const env = { ...process.env, ...keepMemory };
    const child = fork(program, { execArgv: [], serialization: 'advanced', env });
    standBack(child);
    child.on('message', (answer: CopyAnswer) => this.#take(child, answer));
    const gone = (what: string): void => {
      if (this.#child === child) this.#stop(what);
    };
    child.once('error', ({ message }) => gone(message));
    child.once('exit', (code, signal) => gone(`it ended with ${code ?? signal}`));
    const { host, port } = this.#options;
    const ports = Promise.withResolvers<number>();
    ports.promise.catch(noMatter); // told to whoever asks for it
    this.#port = ports.promise;
    this.#heard = (answer) => {
      if (answer.kind === 'listening') {
        ports.resolve(answer.port);
      } else if (answer.kind === 'not-listening') ports.reject(lost(answer.message));
    };
    child.send({ kind: 'listen', host, port } satisfies CopyOrder, noMatter);
    child.send({ kind: 'rates', ...this.#rates } satisfies CopyOrder, noMatter);
    this.#hold(child);
    return child;
  }

  #take(child: ChildProcess, answer: CopyAnswer): void {
    if (this.#child !== child) return;
    if (!('id' in answer)) this.#heard(answer);
    else this.#tasks.get(answer.id)?.onReport(answer);
  }

  #end(id: number): void {
    this.#tasks.delete(id);
    if (this.#child !== null) this.#hold(this.#child);
  }

  /** It holds this process while it has work; then it is idle. */
  #hold(child: ChildProcess): void {
    clearTimeout(this.#idleTimer);
    if (this.#tasks.size > 0) {
      child.ref();
      child.channel?.ref();
      return;
    }
    child.unref();
    child.channel?.unref();
    this.#idleTimer = setTimeout(() => this.#stop('it was idle'), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  #stop(why: string): void {
    clearTimeout(this.#idleTimer);
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
    this.#heard({ kind: 'not-listening', message: why });
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const task of tasks) task.onLost(lost(why));
  }
}

/** Linux takes the priority at the disk from that at the processor. */
function standBack({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, sideProcessPriority);
  } catch {
    // This process stands back further than that, and may not raise another.
  }
}

function lost(why: string): CodedError {
  return new CodedError('COPY_CUT', `the process beside the store that copies: ${why}`);
}

const noMatter = (): void => undefined;
