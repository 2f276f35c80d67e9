// The carrier: a helper process that gives and takes copies, so that none of their bytes passes
// through the serving process.
import { CodedError } from '@ringwright/base/coded-error';
import { type BackgroundOptions, BackgroundProcess } from '@ringwright/node/background-process';
import type { CopyAnswer, CopyOrder, CopyReport } from './copy-work.ts';

interface CopyProcessOptions
  extends Pick<BackgroundOptions<CopyAnswer>, 'idleMsMax' | 'stallMsMax'> {
  /** Address at which other servers' carriers reach this one. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The program; tests use one that misbehaves. */
  readonly program?: URL;
}

/** Callbacks of one copy; after `onLost` there are no more. */
export interface CarrierListener {
  onReport(report: CopyReport): void;
  /** Called when the process has ended. */
  onLost(error: CodedError): void;
}

type OrderOf<Order> = Order extends { readonly id: number } ? Omit<Order, 'id'> : never;

/** Orders of one copy, without its id. */
type TaskOrder = OrderOf<CopyOrder>;

const PROGRAM = new URL('./copy-program.ts', import.meta.url);

/** When the process dies, its copies end, and the next copy starts a new process. */
export class CopyProcess {
  readonly #options: CopyProcessOptions;
  readonly #process: BackgroundProcess<CopyOrder, CopyAnswer>;
  readonly #tasks = new Map<number, CarrierListener>();
  #port: Promise<number> | null = null;
  #onListenAnswer: (answer: CopyAnswer) => void = () => undefined;
  #rate: number | null = null;
  #nextId = 1;
  #closed = false;

  constructor(options: CopyProcessOptions) {
    this.#options = options;
    const { program = PROGRAM, idleMsMax, stallMsMax } = options;
    this.#process = new BackgroundProcess({
      ...{ program, idleMsMax, ...(stallMsMax !== undefined && { stallMsMax }) },
      // It may wait for other servers: only one that takes no orders hangs.
      wakeOrder: () => ({ kind: 'rate', rate: this.#rate }),
      onAnswer: (answer) => this.#onAnswer(answer),
      onLost: (reason) => this.#onLost(reason),
    });
  }

  get running(): boolean {
    return this.#process.running;
  }

  /** See BackgroundProcess. */
  park(): void {
    if (!this.#closed) this.#process.park();
  }

  /** Limits the bytes per second it gives, and those it takes, from now on; null: no limit. */
  setRate(rate: number | null): void {
    this.#rate = rate;
    this.#process.send({ kind: 'rate', rate });
  }

  /** Resolves to its port; starts the process if needed. Rejects when it cannot listen or dies. */
  async port(): Promise<number> {
    this.#start();
    return this.#port ?? Promise.reject(lost('it was not started'));
  }

  /** Returns a function that sends orders of this copy; `end` is the last. Throws STORE_CLOSED. */
  begin(task: CarrierListener): (order: TaskOrder) => void {
    const id = this.#nextId++;
    this.#start();
    this.#tasks.set(id, task);
    this.#process.hold(true);
    return (order) => {
      if (!this.#tasks.has(id)) return;
      // An order without its id, plus its id, is an order.
      this.#process.send({ ...order, id } as CopyOrder);
      if (order.kind !== 'end') return;
      this.#tasks.delete(id);
      this.#process.hold(this.#tasks.size > 0);
    };
  }

  /** Kills a process that hangs. */
  kill(): void {
    this.#process.kill('it reported no progress');
  }

  /** Ends the process and all its copies. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#process.end();
    this.#onLost('the store is closed');
  }

  /** Throws STORE_CLOSED, and what `fork` throws. */
  #start(): void {
    if (this.#closed) throw new CodedError('STORE_CLOSED', 'the store is closed');
    if (!this.#process.start()) return;
    const { host, port } = this.#options;
    const ports = Promise.withResolvers<number>();
    ports.promise.catch(() => undefined); // port() reports the error
    this.#port = ports.promise;
    this.#onListenAnswer = (answer) => {
      if (answer.kind === 'listening') ports.resolve(answer.port);
      else if (answer.kind === 'not-listening') ports.reject(lost(answer.message));
    };
    this.#process.send({ kind: 'listen', host, port });
    this.#process.send({ kind: 'rate', rate: this.#rate });
    this.#process.hold(false);
  }

  #onAnswer(answer: CopyAnswer): void {
    if ('id' in answer) this.#tasks.get(answer.id)?.onReport(answer);
    else this.#onListenAnswer(answer);
  }

  #onLost(reason: string): void {
    this.#onListenAnswer({ kind: 'not-listening', message: reason });
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const task of tasks) task.onLost(lost(reason));
  }
}

function lost(reason: string): CodedError {
  return new CodedError('COPY_CUT', `the carrier process: ${reason}`);
}
