// The side process: a helper process that copies, audits, builds and merges files, so that long
// work delays no request.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { errorOf } from '@ringwright/base/disk-error';
import { type BackgroundOptions, BackgroundProcess } from '@ringwright/node/background-process';
import type { FileAudit } from '../audit/audit-partition-file.ts';
import type { FileOwner, OwnedFile } from '../audit/own-file.ts';
import type { BuiltChild, ChildrenToBuild, FilesToMerge } from './build-children.ts';
import type { CopiedFile, PagesToCopy } from './copy-file.ts';
import type { FileToMake, MadeFile } from './make-file.ts';
import type { SideMessage, SideRequest, SideWork } from './side-work.ts';

interface Job {
  readonly id: number;
  readonly work: SideWork;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Files to be built by a job that has not begun. */
interface Gathering {
  readonly files: FileToMake[];
  readonly results: Promise<unknown>;
}

interface SideProcessOptions
  extends Pick<BackgroundOptions<SideMessage>, 'idleMsMax' | 'stallMsMax'> {
  /** Maximum number of files queued and in progress; beyond it STORE_BUSY. */
  readonly jobsMax: number;
  /** The program; tests use one that crashes. */
  readonly program?: URL;
}

const PROGRAM = new URL('./side-program.ts', import.meta.url);

/**
 * A process of its own, because closing a descriptor of a live database here would drop SQLite's
 * locks on it (howtocorrupt.html, 2.2), and because it can have a low priority: requests go first
 * when the CPU is busy. It does one job at a time. When it dies, that job fails, and so do the jobs
 * that wait for the disk; the next job starts a new process.
 */
export class SideProcess {
  readonly #jobsMax: number;
  readonly #process: BackgroundProcess<SideRequest, SideMessage>;
  readonly #waiting: Job[] = [];
  #job: Job | null = null;
  #gathering: Gathering | null = null;
  /** By id: jobs that wait for the disk. */
  readonly #syncingJobs = new Map<number, Job>();
  #nextId = 1;
  #closed = false;

  constructor({ jobsMax, program = PROGRAM, ...limits }: SideProcessOptions) {
    this.#jobsMax = jobsMax;
    this.#process = new BackgroundProcess({
      ...{ program, ...limits },
      onAnswer: (message) => this.#onMessage(message),
      onLost: (reason) => this.#onLost(new Error(`the side process: ${reason}`)),
    });
  }

  /** Whether a process exists now. */
  get running(): boolean {
    return this.#process.running;
  }

  /** See BackgroundProcess. */
  park(): void {
    if (!this.#closed) this.#process.park();
  }

  /** Starts the process ahead of work that will come soon. */
  prepare(): void {
    if (this.#closed) return;
    try {
      if (!this.#process.start()) return;
      this.#process.send({ kind: 'prepare' });
      this.#process.hold(false);
    } catch {
      // The process could not start. The work itself may succeed, or reports the error.
    }
  }

  /**
   * Audits a staged file that nobody else has open. With an owner, an intact file then becomes the
   * owner's: see ownFile. Rejects with STORE_BUSY, STORE_CLOSED.
   */
  async audit(file: string, owner: FileOwner | null = null): Promise<FileAudit> {
    return (await this.#run({ kind: 'audit', file, owner })) as FileAudit;
  }

  /**
   * Copies a file that nobody writes to meanwhile, without a sync. After a rejection the file at
   * `to` is worthless.
   */
  async copy(from: string, to: string): Promise<CopiedFile> {
    return (await this.#run({ kind: 'copy', from, to })) as CopiedFile;
  }

  /** Copies a file that may change meanwhile, or pages of a file copied before. Not synced. */
  async copyPages(work: PagesToCopy): Promise<void> {
    await this.#run({ kind: 'copy-pages', ...work });
  }

  /**
   * See makeFiles. Files requested in one turn, or while the process is busy, form one job: a
   * message to it costs as much as a small file. Null if the records differ from their digest.
   * Rejects with DISK_FULL, DISK_FAILED.
   */
  async make(file: FileToMake): Promise<OwnedFile | null> {
    this.#requireCapacity();
    const files = this.#gathering?.files ?? [];
    const at = files.push(file) - 1;
    this.#gathering ??= { files, results: this.#wait({ kind: 'make', files }) };
    const { results } = this.#gathering;
    setImmediate(() => this.#startNext());
    const result = must(((await results) as readonly MadeFile[])[at], 'each file has an end');
    if (result.kind === 'failed') throw errorOf(result);
    return result.kind === 'made' ? result.owned : null;
  }

  /** See buildChildren. Also rejects when one of the parents is damaged. */
  async build(work: ChildrenToBuild): Promise<readonly BuiltChild[]> {
    return (await this.#run({ kind: 'build', ...work })) as readonly BuiltChild[];
  }

  /** See mergeFile. */
  async merge(work: FilesToMerge): Promise<void> {
    await this.#run({ kind: 'merge', ...work });
  }

  async #run(work: SideWork): Promise<unknown> {
    this.#requireCapacity();
    const done = this.#wait(work);
    this.#startNext();
    return done;
  }

  /** Throws STORE_CLOSED, STORE_BUSY. */
  #requireCapacity(): void {
    if (this.#closed) throw closedError();
    const jobsMax = this.#jobsMax;
    const jobs = [...this.#waiting, ...this.#startedJobs()];
    if (jobs.reduce((sum, { work }) => sum + filesOf(work), 0) < jobsMax) return;
    throw new CodedError('STORE_BUSY', `${jobsMax} files wait to be copied or audited`, {
      hint: 'move fewer files at the same time',
    });
  }

  #wait(work: SideWork): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id: this.#nextId++, work, resolve, reject });
    });
  }

  #startNext(): void {
    if (this.#job !== null || this.#closed) return;
    const job = this.#waiting.shift();
    if (job === undefined) {
      if (this.#syncingJobs.size === 0) this.#process.hold(false);
      return;
    }
    this.#job = job;
    const { id, work } = job;
    if (work.kind === 'make') this.#gathering = null;
    try {
      this.#process.start();
      this.#process.hold(true);
      this.#process.send({ kind: 'work', id, work });
    } catch (error) {
      // The process could not start; the next job may succeed.
      this.#job = null;
      job.reject(error);
      this.#startNext();
    }
  }

  #onMessage({ id, answer }: SideMessage): void {
    const running = this.#job?.id === id ? this.#job : null;
    const job = running ?? this.#syncingJobs.get(id);
    if (running !== null) this.#job = null;
    this.#syncingJobs.delete(id);
    if (job !== undefined && answer.kind === 'waits') this.#syncingJobs.set(id, job);
    else if (answer.kind === 'done') job?.resolve(answer.result);
    else if (answer.kind === 'failed') job?.reject(errorOf(answer));
    this.#startNext();
  }

  #onLost(reason: unknown): void {
    const jobs = this.#startedJobs();
    this.#forgetStarted();
    for (const job of jobs) job.reject(reason);
    this.#startNext();
  }

  /** Jobs that the process has received. */
  #startedJobs(): Job[] {
    return [...(this.#job === null ? [] : [this.#job]), ...this.#syncingJobs.values()];
  }

  #forgetStarted(): void {
    this.#job = null;
    this.#syncingJobs.clear();
  }

  /** Rejects all jobs with STORE_CLOSED and ends the process. Idempotent. */
  close(): void {
    this.#closed = true;
    const jobs = [...this.#startedJobs(), ...this.#waiting.splice(0)];
    this.#forgetStarted();
    for (const { reject } of jobs) reject(closedError());
    this.#process.end();
  }
}

function filesOf(work: SideWork): number {
  return work.kind === 'make' ? work.files.length : 1;
}

function closedError(): CodedError {
  return new CodedError('STORE_CLOSED', 'the store is closed');
}
