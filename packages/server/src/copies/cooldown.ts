// The pause after work with files in which no more work of its kind begins, so that requests get
// the processor.
import { cooldownMs, type LoadThrottle } from './throttle-control.ts';

export interface CooldownPorts {
  /** How far such work is held back now for the sake of requests. */
  readonly loadThrottle: () => LoadThrottle;
  /** A clock that never steps back. */
  readonly monotonicMs: () => number;
}

export class Cooldown {
  readonly #ports: CooldownPorts;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(ports: CooldownPorts) {
    this.#ports = ports;
  }

  /** No work begins before this time. If it is in the past, work may begin. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#ports.monotonicMs());
  }

  /**
   * To be called when work that began at `begunMs` has ended, well or not. A longer cooldown of
   * other work stays in force.
   */
  after(begunMs: number): void {
    const nowMs = this.#ports.monotonicMs();
    const untilMs = nowMs + cooldownMs(this.#ports.loadThrottle(), nowMs - begunMs);
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}
