// Reads every partition file here once per cycle, slowly, to find damage before the file is needed.
// A file in which a read met damage is read next. Also checks each minute whether the files in use
// are still those of the directory.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import {
  filesCheckMs,
  scrubBytesPerSecondMax,
  scrubCycleMs,
  scrubFirstMs,
} from '@ringwright/base/limits-store';
import { shortened } from '@ringwright/base/shortened';
import type { FilesCheck } from '@ringwright/partition/parts/check-open-files';
import type { Store } from '@ringwright/partition/store';
import { damageCharactersMax, damagedFilesMax, type filesLook } from '@ringwright/wire/files';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';

/** As long as reading a file of 240 MiB takes. */
const FAILED_PAUSE_MS = 60_000;

interface ScrubberPorts {
  readonly store: Pick<Store, 'list' | 'scrub' | 'checkOpenFiles' | 'damaged' | 'suspects'>;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Called when a file was found damaged: it should be replaced. */
  readonly onFindings: (keyspace: string, partition: number, findings: readonly Finding[]) => void;
  /** Called when the log started over because its file was lost. */
  readonly onLogLost: (error: CodedError) => void;
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
  #waiting: { readonly keyspace: string; readonly partition: number }[] = [];
  #cycleBeganMs: number;
  #lookedMs: number;
  #look: Promise<FilesCheck> | null = null;
  /** No file is read before this time, because the bytes read so far have used up the rate. */
  #paidUntilMs = 0;

  /** The first cycle begins after scrubFirstMs, so that nothing is read while the server starts. */
  constructor(ports: ScrubberPorts) {
    this.#ports = ports;
    this.#cycleBeganMs = ports.monotonicMs() - scrubCycleMs + scrubFirstMs;
    this.#lookedMs = ports.monotonicMs();
  }

  /** To be called often. Reads at most one file, and none while the rate is used up. */
  async tick(): Promise<void> {
    const { store, monotonicMs, onFindings, onError } = this.#ports;
    const now = monotonicMs();
    if (now - this.#lookedMs >= filesCheckMs) await this.look().catch(onError);
    if (now < this.#paidUntilMs) return;
    for (const suspect of store.suspects) this.#waiting.push(suspect);
    store.suspects.clear();
    if (this.#waiting.length === 0 && now - this.#cycleBeganMs >= scrubCycleMs) this.begin();
    const next = this.#waiting.pop();
    if (next === undefined) return;
    try {
      const { bytes, findings } = await store.scrub(next.keyspace, next.partition);
      this.#paidUntilMs = now + (bytes / scrubBytesPerSecondMax) * 1_000;
      if (findings.length > 0) onFindings(next.keyspace, next.partition, findings);
    } catch (error) {
      // The file was dropped since the cycle began.
      if (hasCode(error, 'PARTITION_ABSENT')) return;
      // The file may have been read anyway.
      this.#paidUntilMs = now + FAILED_PAUSE_MS;
      onError(error);
    }
  }

  /**
   * Checks the files in use. A call during a running check returns that check's promise. Rejects
   * with STORE_FAILED, STORE_CLOSED.
   */
  look(): Promise<FilesCheck> {
    this.#look ??= this.#lookNow().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  /** The latest loss of the log since this process started; null: none. */
  get logLoss(): LogLoss | null {
    return this.#logLoss;
  }

  /** Files that are damaged now. */
  damaged(): ReturnType<Store['damaged']> {
    return this.#ports.store.damaged();
  }

  async #lookNow(): Promise<FilesCheck> {
    const { store, monotonicMs, nowMs, onFindings, onLogLost, onError } = this.#ports;
    this.#lookedMs = monotonicMs();
    const look = await store.checkOpenFiles();
    for (const error of look.errors) onError(error);
    if (look.log !== null) {
      this.#logLoss = { ms: nowMs(), reason: look.log.message };
      onLogLost(look.log);
    }
    for (const { keyspace, partition, error } of look.lost) {
      onFindings(keyspace, partition, [error]);
    }
    return look;
  }

  begin(): void {
    this.#cycleBeganMs = this.#ports.monotonicMs();
    this.#waiting = this.#ports.store.list().map(({ keyspace, partition }) => {
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
  for (const one of [...scrubber.damaged(), ...lost]) {
    if (one.keyspace === keyspace) found.set(one.partition, one.error);
  }
  const told = [...found].slice(0, damagedFilesMax);
  return {
    damaged: told.map(([partition, { message }]) => ({
      partition,
      reason: shortened(message, damageCharactersMax),
    })),
    count: found.size,
    log: log === null ? null : shortened(log.message, damageCharactersMax),
  };
}
