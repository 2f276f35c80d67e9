// Reads every partition file here once in a cycle, slowly, so that damage is found before it is
// needed.
import type { Finding } from '@ringwright/base/finding';
import { scrubBytesPerSecondMax, scrubCycleMs, scrubFirstMs } from '@ringwright/base/limits-store';
import type { Store } from '@ringwright/partition/store';

/** As long as a file of 240 MiB takes. */
const FAILED_PAUSE_MS = 60_000;

interface ScrubberPorts {
  readonly store: Pick<Store, 'list' | 'scrub'>;
  readonly monotonicMs: () => number;
  /** The file is damaged from now on: it should be replaced. */
  readonly onFindings: (keyspace: string, partition: number, findings: readonly Finding[]) => void;
  /** A file that could not be read now: dropped meanwhile, no room for its copy, no process. */
  readonly onError: (error: unknown) => void;
}

export class Scrubber {
  readonly #ports: ScrubberPorts;
  #waiting: { readonly keyspace: string; readonly partition: number }[] = [];
  #cycleBeganMs: number;
  /** Until then the bytes read so far use up the rate. */
  #paidUntilMs = 0;

  /** The first cycle begins after scrubFirstMs: no reading while the server starts. */
  constructor(ports: ScrubberPorts) {
    this.#ports = ports;
    this.#cycleBeganMs = ports.monotonicMs() - scrubCycleMs + scrubFirstMs;
  }

  /** Called often: reads at most one file, and none while the rate is used up. */
  async tick(): Promise<void> {
    const { store, monotonicMs, onFindings, onError } = this.#ports;
    const now = monotonicMs();
    if (now < this.#paidUntilMs) return;
    if (this.#waiting.length === 0 && now - this.#cycleBeganMs >= scrubCycleMs) this.begin();
    const next = this.#waiting.pop();
    if (next === undefined) return;
    // Where it fails the file may have been read nevertheless.
    this.#paidUntilMs = now + FAILED_PAUSE_MS;
    try {
      const { bytes, findings } = await store.scrub(next.keyspace, next.partition);
      this.#paidUntilMs = now + (bytes / scrubBytesPerSecondMax) * 1_000;
      if (findings.length > 0) onFindings(next.keyspace, next.partition, findings);
    } catch (error) {
      onError(error);
    }
  }

  /** Begins a cycle with the files that are here now. */
  begin(): void {
    this.#cycleBeganMs = this.#ports.monotonicMs();
    this.#waiting = this.#ports.store.list().map(({ keyspace, partition }) => {
      return { keyspace, partition };
    });
  }
}
