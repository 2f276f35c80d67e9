// The time after work with files in which nothing of its kind begins: requests have the processor.
import { cooldownMs, type LoadThrottle } from './throttle-control.ts';

export interface CooldownPorts {
  /** How far requests hold such work back now. */
  readonly loadThrottle: () => LoadThrottle;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
}

export class Cooldown {
  readonly #ports: CooldownPorts;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(ports: CooldownPorts) {
    this.#ports = ports;
  }

  /** Nothing begins before; in the past: anything may. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#ports.monotonicMs());
  }

  /** Work has ended, well or not, that began then. A longer cooldown of other work stays. */
  after(begunMs: number): void {
    const nowMs = this.#ports.monotonicMs();
    const untilMs = nowMs + cooldownMs(this.#ports.loadThrottle(), nowMs - begunMs);
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}
