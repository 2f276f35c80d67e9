// What happened on a server that somebody may ask about later: who granted, pushed, dropped, set
// rates, and who was refused. Written in the background, so that no request waits for it.
import { appendFile, truncate } from 'node:fs/promises';
import {
  type AuditEvent,
  type AuditHead,
  auditStart,
  headAfter,
  parseLine,
  printLine,
} from '@ringwright/access/audit-line';
import {
  auditAnswerLinesMax,
  auditFileBytesMax,
  auditFlushMs,
  auditWaitingMax,
} from '@ringwright/base/limits-access';
import { makeDirectory, syncFile } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { withPath } from '@ringwright/node/with-path';
import {
  auditFile,
  auditFolder,
  listAuditFiles,
  readAuditFile,
  removeOldFiles,
} from './audit-files.ts';

interface AuditPorts {
  readonly data: string;
  readonly nowMs: () => number;
  /** Called when the disk did not take lines; they are counted as lost. */
  readonly onTrouble: (error: unknown) => void;
}

interface Waiting extends AuditEvent {
  readonly ms: number;
}

export class AuditLog {
  readonly #ports: AuditPorts;
  #head: AuditHead = auditStart;
  /** The file being written; null: the next line begins a new one. */
  #file: { readonly path: string; bytes: number } | null = null;
  /** Whether a write has failed that may have left half a line. */
  #isTorn = false;
  #waiting: Waiting[] = [];
  #lostCount = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(ports: AuditPorts) {
    this.#ports = ports;
  }

  /**
   * Continues after the last line on disk; removes what a crash has left after it. The newest file
   * has no line if the crash came while it was begun.
   */
  static async load(ports: AuditPorts): Promise<AuditLog> {
    const log = new AuditLog(ports);
    await makeDirectory(auditFolder(ports.data));
    const files = await listAuditFiles(auditFolder(ports.data));
    for (const path of files.toReversed()) if (await log.#resume(path)) break;
    return log;
  }

  /** Writes the event within auditFlushMs. Never throws, and never waits for the disk. */
  note(event: AuditEvent): void {
    if (this.#waiting.length >= auditWaitingMax) {
      this.#lostCount += 1;
      return;
    }
    this.#waiting.push({ ...event, ms: this.#ports.nowMs() });
    this.#timer ??= setTimeout(() => void this.flush(), auditFlushMs).unref();
  }

  /** Notes what this server does by itself, with its rings and files. */
  noteOwn(kind: string, what: string): void {
    this.note({ kind, who: 'this server', what });
  }

  /** Resolves when what was noted is in the file. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Returns the newest lines below `before`, oldest first; null: the newest of all. */
  async read(before: number | null, limit: number): Promise<string[]> {
    await this.flush();
    const linesMax = Math.min(limit, auditAnswerLinesMax);
    const found: string[] = [];
    for (const file of (await listAuditFiles(auditFolder(this.#ports.data))).toReversed()) {
      const lines = await readAuditFile(file);
      const older = lines.filter((text) => (parseLine(text)?.seq ?? 0) < (before ?? Infinity));
      found.unshift(...older.slice(Math.max(0, older.length - (linesMax - found.length))));
      if (found.length >= linesMax) break;
    }
    return found;
  }

  /** False when the file has no line. */
  async #resume(path: string): Promise<boolean> {
    const lines = await readAuditFile(path);
    const bytes = lines.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    await truncate(path, bytes);
    const last = lines.at(-1);
    if (last === undefined) return false;
    const line = parseLine(last);
    if (line !== null) this.#head = headAfter(last, line);
    this.#file = { path, bytes };
    return true;
  }

  async #write(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#lostCount > 0) {
      const what = `${this.#lostCount} lines were not kept: too many at once`;
      waiting.push({ kind: 'lost', who: 'this server', what, ms: this.#ports.nowMs() });
      this.#lostCount = 0;
    }
    if (waiting.length === 0) return;
    const previousHead = this.#head;
    const lines = waiting.map(({ ms, ...event }) => {
      const text = printLine(event, ms, this.#head);
      this.#head = headAfter(text, { seq: this.#head.seq + 1 });
      return text;
    });
    try {
      await this.#append(previousHead.seq + 1, `${lines.join('\n')}\n`);
    } catch (error) {
      this.#head = previousHead;
      this.#lostCount += lines.length;
      this.#ports.onTrouble(error);
    }
  }

  async #append(firstSeq: number, text: string): Promise<void> {
    const folder = auditFolder(this.#ports.data);
    if (this.#file === null || this.#file.bytes >= auditFileBytesMax) {
      // A power loss must not take the end of one file and leave the beginning of the next.
      if (this.#file !== null) await syncFile(this.#file.path).catch(nullIfMissing);
      this.#file = { path: auditFile(folder, firstSeq), bytes: 0 };
    }
    const { path, bytes } = this.#file;
    if (this.#isTorn) await truncate(path, bytes).catch(nullIfMissing);
    this.#isTorn = true;
    await appendFile(path, text, { mode: 0o600 }).catch(withPath(path));
    this.#isTorn = false;
    this.#file.bytes += Buffer.byteLength(text);
    if (bytes === 0) await removeOldFiles(folder);
  }
}

/** Methods of messages that are noted: what operators order, and what peers or operators bring. */
const auditedMethods: ReadonlySet<string> = new Set([
  'ring-offer',
  'ring-settle',
  'copy-rate',
  'trash-restore',
  'confirm-drops',
  'move-control',
]);

const SHOWN_CHARACTERS = 24;

export function isAudited(method: string): boolean {
  return auditedMethods.has(method);
}

/**
 * Formats a request as `keyspace notes, version 7, id 3fa…`: texts and numbers, shortened, and for
 * a list its length.
 */
export function auditedWords(request: unknown): string {
  if (typeof request !== 'object' || request === null) return '';
  return Object.entries(request)
    .map(([name, value]) => `${name} ${wordOf(value)}`)
    .join(', ');
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return `(${value.length})`;
  return String(value).slice(0, SHOWN_CHARACTERS);
}
