// A process beside a store that copies, audits, builds and merges files: long work that delays no
// request.
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { CodedError } from '@ringwright/base/coded-error';
import { sideProcessPriority } from '@ringwright/base/limits-copies';
import { keepMemory } from '@ringwright/node/keep-memory';
import type { FileAudit } from '../audit/audit-file.ts';
import type { FileOwner } from '../audit/own-file.ts';
import type { BuiltChild, ChildrenToBuild } from './build-children.ts';
import type { FilesToMerge } from './merge-file.ts';

export type SideWork =
  | { readonly kind: 'audit'; readonly file: string; readonly owner: FileOwner | null }
  | { readonly kind: 'copy'; readonly from: string; readonly to: string }
  | ({ readonly kind: 'copy-pages' } & PagesToCopy)
  | ({ readonly kind: 'build' } & ChildrenToBuild)
  | ({ readonly kind: 'merge' } & FilesToMerge);

export type SideRequest =
  | { readonly kind: 'work'; readonly id: number; readonly work: SideWork }
  /** Not answered: to be ready for audits. */
  | { readonly kind: 'prepare' };

/** What the program says of a job. */
export interface SideMessage {
  readonly id: number;
  readonly answer: SideAnswer;
}

export type SideAnswer =
  /** The job waits for the disk, and its answer comes: meanwhile the next one may begin. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'audited'; readonly audit: FileAudit }
  | { readonly kind: 'copied'; readonly copy: CopiedFile }
  | { readonly kind: 'built'; readonly children: readonly BuiltChild[] }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

export interface PagesToCopy {
  readonly from: string;
  readonly to: string;
  /** Numbers from 1, ascending; null: all there are, and `to` is made. */
  readonly pages: Uint32Array | null;
}

export interface CopiedFile {
  readonly bytes: number;
  /** Of what was read: keyed-checksum.ts. */
  readonly seal: string;
}

interface Job {
  readonly id: number;
  readonly work: SideWork;
  readonly resolve: (answer: SideAnswer) => void;
  readonly reject: (error: unknown) => void;
}

export interface SideProcessOptions {
  /** Files that may wait, the one at work included; beyond it STORE_BUSY. */
  readonly jobsMax: number;
  /** A process without work for this long is ended: it holds ~45 MB. */
  readonly idleMsMax: number;
  /** The program; tests give one that crashes. */
  readonly program?: URL;
}

const PROGRAM = new URL('./side-program.ts', import.meta.url);

/**
 * Another process, because closing a descriptor of a live database here would drop the locks that
 * SQLite holds on it (howtocorrupt.html, 2.2), and because it can stand back: requests go first
 * when the processor is short. Starting one costs as much as auditing 30 MB, so it is kept from one
 * file to the next. It works on one file at a time. When it dies, that job fails, and so do those
 * that wait for the disk; the next job gets a new process. It holds this one only while it has
 * work.
 */
export class SideProcess {
  readonly #options: SideProcessOptions;
  readonly #waiting: Job[] = [];
  #job: Job | null = null;
  /** By id: jobs that wait for the disk. */
  readonly #atDisk = new Map<number, Job>();
  #jobs = 0;
  #child: ChildProcess | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: SideProcessOptions) {
    this.#options = options;
  }

  /** Whether a process exists now. */
  get running(): boolean {
    return this.#child !== null;
  }

  /** Work will come soon: it need not wait for the process to start then. */
  prepare(): void {
    if (this.#closed || this.#child !== null) return;
    try {
      this.#child = this.#start();
      this.#child.send({ kind: 'prepare' }, () => undefined);
      this.#idle();
    } catch {
      // No process to be had: the work may have more luck, or says so.
    }
  }

  /**
   * What is wrong with a staged file that nobody else has open. With an owner one that is whole is
   * his then: see ownFile. Rejects with STORE_BUSY, STORE_CLOSED.
   */
  async audit(file: string, owner: FileOwner | null = null): Promise<FileAudit> {
    const answer = await this.#do({ kind: 'audit', file, owner });
    if (answer.kind === 'audited') return answer.audit;
    throw unexpected(answer);
  }

  /**
   * Copies a file that nobody writes to meanwhile. Not synced. Rejects also when it was not copied;
   * what is at `to` then is worth nothing.
   */
  async copy(from: string, to: string): Promise<CopiedFile> {
    const answer = await this.#do({ kind: 'copy', from, to });
    if (answer.kind === 'copied') return answer.copy;
    throw unexpected(answer);
  }

  /** A file that may be written to meanwhile, or pages of one that was copied before. Not synced. */
  async copyPages(work: PagesToCopy): Promise<void> {
    const answer = await this.#do({ kind: 'copy-pages', ...work });
    if (answer.kind !== 'done') throw unexpected(answer);
  }

  /** See buildChildren. Rejects also when one of the parents is not whole. */
  async build(work: ChildrenToBuild): Promise<readonly BuiltChild[]> {
    const answer = await this.#do({ kind: 'build', ...work });
    if (answer.kind === 'built') return answer.children;
    throw unexpected(answer);
  }

  /** See mergeFile. */
  async merge(work: FilesToMerge): Promise<void> {
    const answer = await this.#do({ kind: 'merge', ...work });
    if (answer.kind !== 'done') throw unexpected(answer);
  }

  #do(work: SideWork): Promise<SideAnswer> {
    const { jobsMax } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#closed) reject(closedError());
      else if (this.#waiting.length + this.#atDisk.size + (this.#job === null ? 0 : 1) >= jobsMax) {
        reject(
          new CodedError('STORE_BUSY', `${jobsMax} files wait to be copied or audited`, {
            hint: 'move fewer files at the same time',
          }),
        );
      } else {
        this.#jobs += 1;
        this.#waiting.push({ id: this.#jobs, work, resolve, reject });
        this.#startNext();
      }
    });
  }

  #startNext(): void {
    if (this.#job !== null || this.#closed) return;
    const job = this.#waiting.shift();
    if (job === undefined) {
      if (this.#atDisk.size === 0) this.#idle();
      return;
    }
    clearTimeout(this.#idleTimer);
    this.#job = job;
    try {
      this.#child ??= this.#start();
      this.#child.ref();
      this.#child.channel?.ref();
      // Not sent: it is about to exit, and that fails the job.
      const request: SideRequest = { kind: 'work', id: job.id, work: job.work };
      this.#child.send(request, () => undefined);
    } catch (error) {
      // No process to be had: the next job may have more luck.
      this.#job = null;
      job.reject(error);
      this.#startNext();
    }
  }

  #start(): ChildProcess {
    const child = fork(this.#options.program ?? PROGRAM, {
      execArgv: [],
      serialization: 'advanced',
      env: { ...process.env, ...keepMemory },
    });
    child.on('message', (message: SideMessage) => this.#take(message));
    child.once('error', (error) => this.#ended(child, error));
    child.once('exit', (code, signal) => {
      this.#ended(child, new Error(`the process beside the store ended with ${code ?? signal}`));
    });
    standBack(child);
    return child;
  }

  #take({ id, answer }: SideMessage): void {
    const atWork = this.#job?.id === id ? this.#job : null;
    const job = atWork ?? this.#atDisk.get(id);
    if (atWork !== null) this.#job = null;
    this.#atDisk.delete(id);
    if (job !== undefined && answer.kind === 'waits') this.#atDisk.set(id, job);
    else job?.resolve(answer);
    this.#startNext();
  }

  #ended(child: ChildProcess, reason: unknown): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const job of this.#begun()) job.reject(reason);
    this.#startNext();
  }

  /** Takes out the jobs that the process has. */
  #begun(): Job[] {
    const jobs = [...(this.#job === null ? [] : [this.#job]), ...this.#atDisk.values()];
    this.#job = null;
    this.#atDisk.clear();
    return jobs;
  }

  #idle(): void {
    this.#child?.unref();
    this.#child?.channel?.unref();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#stop(), this.#options.idleMsMax);
    this.#idleTimer.unref();
  }

  #stop(): void {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
  }

  /** Fails what waits with STORE_CLOSED and ends the process. Safe to repeat. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    const jobs = [...this.#begun(), ...this.#waiting.splice(0)];
    for (const { reject } of jobs) reject(closedError());
    this.#stop();
  }
}

function standBack({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, sideProcessPriority);
  } catch {
    // This process stands back further than that, and may not raise another.
  }
}

function unexpected(answer: SideAnswer): Error {
  return new Error(answer.kind === 'failed' ? answer.message : `answered with ${answer.kind}`);
}

function closedError(): CodedError {
  return new CodedError('STORE_CLOSED', 'the store is closed');
}
