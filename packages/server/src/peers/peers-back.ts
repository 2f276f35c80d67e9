// Whether a server that has started is reached by the others again. Each of them tries after pauses
// of its own: until then a write that one of them coordinates lacks this device.
import { setTimeout as delay } from 'node:timers/promises';
import { peersBackMsMax, peersBackMsMin } from '@ringwright/base/limits-rings';

interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

const bounds: Bounds = { minMs: peersBackMsMin, maxMs: peersBackMsMax };

export class PeersBack {
  /** By address: what to call when it is heard. */
  readonly #waits = new Map<string, () => void>();
  #isAwaited = false;

  /** Whether some of them may not reach this server yet. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** The server there has called, in its own name. */
  hear(address: string): void {
    this.#waits.get(address)?.();
  }

  /**
   * Awaits each that `meet` reaches: whoever cannot be reached coordinates nothing either, so a
   * single survivor becomes ready. Never longer than the upper bound, and where there are others
   * never shorter than the lower one: gateways call too, and no ring names them.
   */
  async wait(
    addresses: readonly string[],
    meet: (address: string) => Promise<unknown>,
    { minMs, maxMs }: Bounds = bounds,
  ): Promise<void> {
    if (addresses.length === 0) return;
    this.#isAwaited = true;
    const pause = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
    const calls = addresses.map(async (address) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waits.set(address, resolve);
      await meet(address);
      await promise;
    });
    const all = Promise.all([Promise.allSettled(calls), pause(minMs)]);
    await Promise.race([all, pause(maxMs)]);
    this.#waits.clear();
    this.#isAwaited = false;
  }
}
