// The time after work with files in which nothing of its kind begins: requests have the processor.
import { type LoadPace, restMs } from './pace-copies.ts';

export interface RestPorts {
  /** How far requests hold such work back now. */
  readonly loadPace: () => LoadPace;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
}

export class Rest {
  readonly #ports: RestPorts;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(ports: RestPorts) {
    this.#ports = ports;
  }

  /** Nothing begins before; in the past: anything may. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#ports.monotonicMs());
  }

  /** Work has ended, well or not, that began then. A longer rest of other work stays. */
  after(begunMs: number): void {
    const nowMs = this.#ports.monotonicMs();
    const untilMs = nowMs + restMs(this.#ports.loadPace(), nowMs - begunMs);
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}
