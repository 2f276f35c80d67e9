// Whether the other servers reach this server again after its start. Each of them tries after
// pauses of its own. Until one does, the writes that it coordinates lack this device.
import { setTimeout as delay } from 'node:timers/promises';
import { peerReconnectMsMax, peerReconnectMsMin } from '@ringwright/base/limits-rings';

interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

const bounds: Bounds = { minMs: peerReconnectMsMin, maxMs: peerReconnectMsMax };

export class PeerReconnects {
  /** By address: called when that server has called this one. */
  readonly #resolveByAddress = new Map<string, () => void>();
  #isWaiting = false;

  /** Whether some of them may not reach this server yet. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** To be called when the server at the address has called in its own name. */
  noteCall(address: string): void {
    this.#resolveByAddress.get(address)?.();
  }

  /**
   * Waits for each server that `meet` reaches. A server that cannot be reached coordinates nothing,
   * so a single survivor becomes ready. Waits at most `maxMs`, and at least `minMs` if there are
   * other servers: gateways call too, and no ring names them.
   */
  async wait(
    addresses: readonly string[],
    meet: (address: string) => Promise<unknown>,
    { minMs, maxMs }: Bounds = bounds,
  ): Promise<void> {
    if (addresses.length === 0) return;
    this.#isWaiting = true;
    const pause = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
    const calls = addresses.map(async (address) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolveByAddress.set(address, resolve);
      await meet(address);
      await promise;
    });
    const all = Promise.all([Promise.allSettled(calls), pause(minMs)]);
    await Promise.race([all, pause(maxMs)]);
    this.#resolveByAddress.clear();
    this.#isWaiting = false;
  }
}
