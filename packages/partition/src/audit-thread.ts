// The one worker thread of a store that reads whole partition files, so that this delays nobody.
import { Worker } from 'node:worker_threads';
import { CodedError } from '@ringwright/base/coded-error';
import type { PartitionAudit } from './audit-partition-file.ts';

interface Job {
  readonly file: string;
  readonly resolve: (audit: PartitionAudit) => void;
  readonly reject: (error: unknown) => void;
}

export interface AuditThreadOptions {
  /** Files that may wait, the one being read included; beyond it STORE_BUSY. */
  readonly jobsMax: number;
  /** A thread without work for this long is ended: it holds ~10 MB. */
  readonly idleMsMax: number;
  /** The program of the thread; tests give one that crashes. */
  readonly program?: URL;
}

const PROGRAM = new URL('./audit-worker.ts', import.meta.url);

/**
 * Starting a thread costs as much as auditing 30 MB, so it is kept from one file to the next. The
 * thread has one file at a time: when it dies, only that job fails, and the next one gets a new
 * thread. It holds the process only while it has work.
 */
export class AuditThread {
  readonly #options: AuditThreadOptions;
  readonly #waiting: Job[] = [];
  #job: Job | null = null;
  #worker: Worker | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: AuditThreadOptions) {
    this.#options = options;
  }

  /** Whether a thread exists now. */
  get running(): boolean {
    return this.#worker !== null;
  }

  /** What is wrong with a file that nobody else has open. Rejects with STORE_BUSY, STORE_CLOSED. */
  audit(file: string): Promise<PartitionAudit> {
    const { jobsMax } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#closed) reject(closedError());
      else if (this.#waiting.length + (this.#job === null ? 0 : 1) >= jobsMax) {
        reject(
          new CodedError('STORE_BUSY', `${jobsMax} files wait to be audited`, {
            hint: 'receive fewer copies at the same time',
          }),
        );
      } else {
        this.#waiting.push({ file, resolve, reject });
        this.#startNext();
      }
    });
  }

  #startNext(): void {
    if (this.#job !== null || this.#closed) return;
    const job = this.#waiting.shift();
    if (job === undefined) return this.#idle();
    clearTimeout(this.#idleTimer);
    this.#job = job;
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(job.file);
    } catch (error) {
      this.#job = null;
      job.reject(error);
      this.#startNext();
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#options.program ?? PROGRAM, { execArgv: [] });
    worker.on('message', (audit: PartitionAudit) => {
      const job = this.#job;
      this.#job = null;
      job?.resolve(audit);
      this.#startNext();
    });
    // 'exit' follows 'error': the job is given the reason, the next one a new thread.
    let reason: unknown = null;
    worker.once('error', (error) => {
      reason = error;
    });
    worker.once('exit', (code) => {
      this.#ended(worker, reason ?? new Error(`the auditing thread ended with ${code}`));
    });
    return worker;
  }

  #ended(worker: Worker, reason: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const job = this.#job;
    this.#job = null;
    job?.reject(reason);
    this.#startNext();
  }

  #idle(): void {
    this.#worker?.unref();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#stop(), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  /** Fails what waits with STORE_CLOSED and ends the thread. Safe to repeat. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    const jobs = [...(this.#job === null ? [] : [this.#job]), ...this.#waiting.splice(0)];
    this.#job = null;
    for (const { reject } of jobs) reject(closedError());
    await this.#stop();
  }
}

function closedError(): CodedError {
  return new CodedError('STORE_CLOSED', 'the store is closed');
}
