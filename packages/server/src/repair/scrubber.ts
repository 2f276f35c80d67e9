// Reads every partition file here once per cycle, slowly, to find damage before the file is needed.
// A file in which a read met damage is read next. Also checks each minute whether the files in use
// are still those of the directory, and the files of the rings still there.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import {
  filesCheckMs,
  scrubBytesPerSecondMax,
  scrubCycleMs,
  scrubFirstMs,
} from '@ringwright/base/limits-store';
import { shortened } from '@ringwright/base/shortened';
import type { Store } from '@ringwright/partition/store';
import type { FilesCheck } from '@ringwright/partition/store/check-open-files';
import { damageCharactersMax, damagedFilesMax, type filesLook } from '@ringwright/wire/files';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { Rings } from '../rings/rings.ts';

/** As long as reading a file of 240 MiB takes. */
const FAILED_PAUSE_MS = 60_000;

interface ScrubberPorts {
  readonly store: Pick<Store, 'list' | 'scrub' | 'checkOpenFiles' | 'damaged' | 'takeSuspects'>;
  readonly rings: Pick<Rings, 'storeLost'>;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Called when a file was found damaged: it should be replaced. */
  readonly onFindings: (keyspace: string, partition: number, findings: readonly Finding[]) => void;
  /** Called when the log started over because its file was lost. */
  readonly onLogLost: (error: CodedError) => void;
  /** Called when the files of rings were removed. They have been written again. */
  readonly onRingsLost: (keyspaces: readonly string[]) => void;
  /**
   * Called for a file that could not be read: dropped meanwhile, no room for its copy, no process.
   */
  readonly onError: (error: unknown) => void;
}

/** The commit log was deleted, replaced or cut, and started over. None of its content was lost. */
export interface LogLoss {
  /** Unix ms at which the loss was found. */
  readonly ms: number;
  readonly reason: string;
}

export class Scrubber {
  readonly #ports: ScrubberPorts;
  #logLoss: LogLoss | null = null;
  #queue: { readonly keyspace: string; readonly partition: number }[] = [];
  #cycleBeganMs: number;
  #filesCheckedMs: number;
  #runningCheck: Promise<FilesCheck> | null = null;
  /** No file is read before this time, because the bytes read so far have used up the rate. */
  #pausedUntilMs = 0;

  /** The first cycle begins after scrubFirstMs, so that nothing is read while the server starts. */
  constructor(ports: ScrubberPorts) {
    this.#ports = ports;
    this.#cycleBeganMs = ports.monotonicMs() - scrubCycleMs + scrubFirstMs;
    this.#filesCheckedMs = ports.monotonicMs();
  }

  /** To be called often. Reads at most one file, and none while the rate is used up. */
  async tick(): Promise<void> {
    const { store, monotonicMs, onFindings, onError } = this.#ports;
    const now = monotonicMs();
    if (now - this.#filesCheckedMs >= filesCheckMs) await this.look().catch(onError);
    if (now < this.#pausedUntilMs) return;
    this.#queue.push(...store.takeSuspects());
    if (this.#queue.length === 0 && now - this.#cycleBeganMs >= scrubCycleMs) this.begin();
    const next = this.#queue.pop();
    if (next === undefined) return;
    try {
      const { bytes, findings } = await store.scrub(next.keyspace, next.partition);
      this.#pausedUntilMs = now + (bytes / scrubBytesPerSecondMax) * 1_000;
      if (findings.length > 0) onFindings(next.keyspace, next.partition, findings);
    } catch (error) {
      // The file was dropped since the cycle began, or the server stops.
      if (hasCode(error, 'PARTITION_ABSENT') || hasCode(error, 'STORE_CLOSED')) return;
      // The file may have been read anyway.
      this.#pausedUntilMs = now + FAILED_PAUSE_MS;
      onError(error);
    }
  }

  /**
   * Checks the files in use. A call during a running check returns that check's promise. Rejects
   * with STORE_FAILED, STORE_CLOSED.
   */
  look(): Promise<FilesCheck> {
    this.#runningCheck ??= this.#checkFiles().finally(() => {
      this.#runningCheck = null;
    });
    return this.#runningCheck;
  }

  /** The latest loss of the log since this process started; null: none. */
  get logLoss(): LogLoss | null {
    return this.#logLoss;
  }

  /** Files that are damaged now. */
  damaged(): ReturnType<Store['damaged']> {
    return this.#ports.store.damaged();
  }

  async #checkFiles(): Promise<FilesCheck> {
    const { store, rings, monotonicMs, nowMs, onFindings, onLogLost, onError } = this.#ports;
    this.#filesCheckedMs = monotonicMs();
    const check = await store.checkOpenFiles();
    for (const error of check.errors) onError(error);
    if (check.log !== null) {
      this.#logLoss = { ms: nowMs(), reason: check.log.message };
      onLogLost(check.log);
    }
    for (const { keyspace, partition, error } of check.lost) {
      onFindings(keyspace, partition, [error]);
    }
    try {
      const lostRings = await rings.storeLost();
      if (lostRings.length > 0) this.#ports.onRingsLost(lostRings);
    } catch (error) {
      onError(error);
    }
    return check;
  }

  begin(): void {
    this.#cycleBeganMs = this.#ports.monotonicMs();
    this.#queue = this.#ports.store.list().map(({ keyspace, partition }) => {
      return { keyspace, partition };
    });
  }
}

/**
 * Answers an operator: what this check found, and what was damaged before and is not yet replaced.
 */
export async function answerFilesLook(
  scrubber: Pick<Scrubber, 'look' | 'damaged'>,
  { keyspace }: RequestOf<typeof filesLook>,
): Promise<AnswerOf<typeof filesLook>> {
  const { lost, log } = await scrubber.look();
  const found = new Map<number, CodedError>();
  for (const file of [...scrubber.damaged(), ...lost]) {
    if (file.keyspace === keyspace) found.set(file.partition, file.error);
  }
  const listed = [...found].slice(0, damagedFilesMax);
  return {
    damaged: listed.map(([partition, { message }]) => ({
      partition,
      reason: shortened(message, damageCharactersMax),
    })),
    count: found.size,
    log: log === null ? null : shortened(log.message, damageCharactersMax),
  };
}
