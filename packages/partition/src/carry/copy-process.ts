// The process beside a store that gives and takes copies: none of their bytes passes through the
// process that serves requests.
import { CodedError } from '@ringwright/base/coded-error';
import { type BackgroundOptions, BackgroundProcess } from '@ringwright/node/background-process';
import type { CopyAnswer, CopyOrder, CopyReport } from './copy-work.ts';

interface CopyProcessOptions extends Pick<BackgroundOptions<CopyAnswer>, 'idleMsMax'> {
  /** Where other servers' processes reach it. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The program; tests give one that misbehaves. */
  readonly program?: URL;
}

/** What happens to one copy; after `onLost` nothing more does. */
export interface CopyTask {
  onReport(report: CopyReport): void;
  /** The process has ended. */
  onLost(error: CodedError): void;
}

type OrderOf<Order> = Order extends { readonly id: number } ? Omit<Order, 'id'> : never;

/** Orders of one copy, without its number. */
type TaskOrder = OrderOf<CopyOrder>;

const PROGRAM = new URL('./copy-program.ts', import.meta.url);

/** When it dies, its copies end and the next one gets a new process. */
export class CopyProcess {
  readonly #options: CopyProcessOptions;
  readonly #process: BackgroundProcess<CopyOrder, CopyAnswer>;
  readonly #tasks = new Map<number, CopyTask>();
  #port: Promise<number> | null = null;
  #heard: (answer: CopyAnswer) => void = () => undefined;
  #rate: number | null = null;
  #nextId = 1;
  #closed = false;

  constructor(options: CopyProcessOptions) {
    this.#options = options;
    const { program = PROGRAM, idleMsMax } = options;
    this.#process = new BackgroundProcess({
      ...{ program, idleMsMax },
      onAnswer: (answer) => this.#take(answer),
      onLost: (why) => this.#lose(why),
    });
  }

  get running(): boolean {
    return this.#process.running;
  }

  /** See BackgroundProcess. */
  park(): void {
    if (!this.#closed) this.#process.park();
  }

  /** Bytes per second that it gives, and that it takes, from now on; null: no limit. */
  setRate(rate: number | null): void {
    this.#rate = rate;
    this.#process.send({ kind: 'rate', rate });
  }

  /** Resolves to where it listens, which starts it. Rejects when it cannot, or when it dies. */
  async port(): Promise<number> {
    this.#start();
    return this.#port ?? Promise.reject(lost('it is not started'));
  }

  /** The function returned gives orders of this copy; `end` is the last. Throws STORE_CLOSED. */
  begin(task: CopyTask): (order: TaskOrder) => void {
    const id = this.#nextId++;
    this.#start();
    this.#tasks.set(id, task);
    this.#process.hold(true);
    return (order) => {
      if (!this.#tasks.has(id)) return;
      // The form of an order is that without its number, with it.
      this.#process.send({ ...order, id } as CopyOrder);
      if (order.kind !== 'end') return;
      this.#tasks.delete(id);
      this.#process.hold(this.#tasks.size > 0);
    };
  }

  /** It hangs: nothing but its end helps. */
  kill(): void {
    this.#process.kill();
  }

  /** Ends it, and all its copies. Safe to repeat. */
  close(): void {
    this.#closed = true;
    this.#process.end();
    this.#lose('the store is closed');
  }

  /** Throws STORE_CLOSED, and what `fork` throws. */
  #start(): void {
    if (this.#closed) throw new CodedError('STORE_CLOSED', 'the store is closed');
    if (!this.#process.start()) return;
    const { host, port } = this.#options;
    const ports = Promise.withResolvers<number>();
    ports.promise.catch(() => undefined); // told to whoever asks for it
    this.#port = ports.promise;
    this.#heard = (answer) => {
      if (answer.kind === 'listening') ports.resolve(answer.port);
      else if (answer.kind === 'not-listening') ports.reject(lost(answer.message));
    };
    this.#process.send({ kind: 'listen', host, port });
    this.#process.send({ kind: 'rate', rate: this.#rate });
    this.#process.hold(false);
  }

  #take(answer: CopyAnswer): void {
    if ('id' in answer) this.#tasks.get(answer.id)?.onReport(answer);
    else this.#heard(answer);
  }

  #lose(why: string): void {
    this.#heard({ kind: 'not-listening', message: why });
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const task of tasks) task.onLost(lost(why));
  }
}

function lost(why: string): CodedError {
  return new CodedError('COPY_CUT', `the process beside the store that copies: ${why}`);
}
