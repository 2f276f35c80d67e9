// Decides when passes over a keyspace run: one at a time, again if something changed meanwhile,
// soon after steps that ended, and after a pause for steps that failed.
import { setImmediate } from 'node:timers/promises';
import { getOrMake } from '@ringwright/base/get-or-make';
import { dutyRetryMs, dutyRetryMsMax, failureTellingMs } from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import { type LackedRoom, lackedRoom } from './load-notes.ts';

export interface FailedStep {
  readonly kind: string;
  readonly keyspace: string;
}

export interface Failing {
  readonly reason: string;
  readonly room: LackedRoom | null;
}

export interface Retry {
  /** Called before the step is tried again. */
  readonly release: () => void;
  /** Minimum pause before the retry. If another retry is planned already, its pause counts. */
  readonly pauseMs: number;
}

interface PassesPorts {
  readonly run: (keyspace: string) => Promise<void>;
  readonly onError: (step: FailedStep, error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** State of one keyspace, since this process started. */
interface State {
  /** The pass under way; null between passes. */
  pass: Promise<void> | null;
  isQueued: boolean;
  /** How long the last pass took. */
  tookMs: number;
  /** Whether a timer will begin a pass. */
  isDue: boolean;
  /** The last failure by kind of step: the reason and the time. */
  readonly failing: Map<string, Failing & { readonly ms: number }>;
  /** Functions that the next retry calls first; null while none is planned. */
  releases: (() => void)[] | null;
}

export class Passes {
  readonly #ports: PassesPorts;
  readonly #states = new Map<string, State>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(ports: PassesPorts) {
    this.#ports = ports;
  }

  /** Begins a pass, or makes another one follow the pass under way. */
  begin(keyspace: string): void {
    const state = this.#stateOf(keyspace);
    state.isQueued = true;
    if (state.pass !== null || this.#closed) return;
    state.pass = this.#loop(keyspace, state);
  }

  /** Begins a pass soon, after a load or a drain. */
  beginSoon(keyspace: string): void {
    const state = this.#stateOf(keyspace);
    if (state.isDue || this.#closed) return;
    state.isDue = true;
    this.#later(Math.min(restMs(state), dutyRetryMsMax), () => {
      state.isDue = false;
      this.begin(keyspace);
    });
  }

  /** Notes a failed step, which is tried again after a pause as long as the ring asks for it. */
  failed(step: FailedStep, error: unknown, retry: Partial<Retry> = {}): void {
    if (this.#closed) return;
    this.#ports.onError(step, error);
    const reason = messageOf(error);
    const ms = this.#ports.monotonicMs();
    this.#stateOf(step.keyspace).failing.set(step.kind, { reason, room: lackedRoom(error), ms });
    this.retry(step.keyspace, retry);
  }

  /**
   * One retry serves all failures. If each failure had a pass of its own, and each partition failed
   * in it again, as on a full disk, passes would multiply until memory ran out.
   */
  retry(keyspace: string, retry: Partial<Retry> = {}): void {
    if (this.#closed) return;
    const { release = () => undefined, pauseMs = dutyRetryMs } = retry;
    const state = this.#stateOf(keyspace);
    if (state.releases !== null) {
      state.releases.push(release);
      return;
    }
    state.releases = [release];
    this.#later(Math.max(pauseMs, Math.min(restMs(state), dutyRetryMs)), () => {
      for (const releaseStep of state.releases ?? []) releaseStep();
      state.releases = null;
      this.begin(keyspace);
    });
  }

  /**
   * Returns the reasons of failures by kind of step. A step may fail long after the pass that began
   * it. So a failure is reported until it has not recurred for failureTellingMs, which is as long
   * as its retries may take.
   */
  failing(keyspace: string): (Failing & { readonly step: string })[] {
    const since = this.#ports.monotonicMs() - failureTellingMs;
    const failing = [...this.#stateOf(keyspace).failing].filter(([, { ms }]) => ms >= since);
    return failing.map(([step, { reason, room }]) => ({ step, reason, room }));
  }

  /** Resolves when no pass runs: none over a ring that was activated in this turn either. */
  async idle(keyspace: string): Promise<void> {
    await setImmediate(); // such a pass begins then
    await this.#stateOf(keyspace).pass;
  }

  /** Begins no more passes. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #loop(keyspace: string, state: State): Promise<void> {
    while (state.isQueued && !this.#closed) {
      state.isQueued = false;
      const startedMs = this.#ports.monotonicMs();
      try {
        await this.#ports.run(keyspace);
      } catch (error) {
        this.failed({ kind: 'review', keyspace }, error);
      }
      state.tookMs = this.#ports.monotonicMs() - startedMs;
    }
    // At once, and not in a later microtask: what is queued in between would begin no pass.
    state.pass = null;
  }

  #later(pauseMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, pauseMs);
    this.#timers.add(timer);
  }

  #stateOf(keyspace: string): State {
    return getOrMake<string, State>(this.#states, keyspace, () => ({
      ...{ pass: null, isQueued: false, tookMs: 0, isDue: false },
      ...{ failing: new Map(), releases: null },
    }));
  }
}

/**
 * A pass looks at every partition. This pause keeps passes to a twentieth of the time, also with
 * thousands of partitions.
 */
function restMs({ tookMs }: State): number {
  return 19 * tookMs;
}
