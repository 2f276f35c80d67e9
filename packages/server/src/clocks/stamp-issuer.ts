// Issues the stamps of the writes this device coordinates: none twice, and none below an earlier
// one, also when the clock of the machine was set back while the server was down.
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, stampsReservedMs } from '@ringwright/base/limits';
import { type MaybePromise, tryCall } from '@ringwright/base/maybe-promise';
import type { Stamp } from '@ringwright/base/stamp';

interface StampIssuerPorts {
  readonly clock: HybridClock;
  /** What was saved last in an earlier life: every stamp issued before lies below it. */
  readonly savedMs: number;
  /** Durable when it resolves. Never called twice at a time. */
  readonly save: (ms: number) => Promise<void>;
}

/**
 * The files of a device show the stamps of the partitions it holds, but a coordinator stamps writes
 * of every partition. So "all stamps lie below X" is made durable before a stamp reaches X, and the
 * next life begins at X. X lies only stampsReservedMs ahead: a restart moves the clock by no more.
 */
export class StampIssuer {
  readonly #ports: StampIssuerPorts;
  /** Durable: stamps below it may be issued. */
  #reservedMs: number;
  /** Every stamp issued so far, in this life or before, lies below it. */
  #issuedBelowMs: number;
  #saving: Promise<void> | null = null;
  #closed = false;

  constructor(ports: StampIssuerPorts) {
    this.#ports = ports;
    this.#reservedMs = ports.savedMs;
    this.#issuedBelowMs = ports.savedMs;
    ports.clock.observe({ ms: ports.savedMs, tie: 0 });
  }

  /**
   * A stamp above all that this device has issued or seen. Rejects, and then nothing was written,
   * with CLOCK_BEHIND while this machine's clock lies more than clockAheadMsMax behind those, with
   * DISK_FAILED, and with STORE_CLOSED.
   *
   * `again` is asked for the stamp when the disk had to be waited for: what the caller knew of this
   * machine's clock may have been of another time.
   */
  issue(device: number, again = () => this.issue(device)): MaybePromise<Stamp> {
    return tryCall(() => {
      if (this.#closed) throw new CodedError('STORE_CLOSED', 'the server is closing');
      const { clock } = this.#ports;
      const stamp = clock.next(device);
      const aheadMs = clock.aheadMs(stamp);
      if (aheadMs > clockAheadMsMax) throw clockBehind(aheadMs);
      // This stamp is given to nobody: another one is taken when it is covered.
      if (stamp.ms >= this.#reservedMs) return this.#renew(stamp).then(again);
      this.#issuedBelowMs = Math.max(this.#issuedBelowMs, stamp.ms + 1);
      // Early enough that under steady load nobody waits for it.
      if (stamp.ms + stampsReservedMs / 2 > this.#reservedMs) this.#renew(stamp).catch(() => {});
      return stamp;
    });
  }

  #renew(stamp: Stamp): Promise<void> {
    this.#saving ??= this.#reserve(stamp).finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #reserve(stamp: Stamp): Promise<void> {
    // Never so far ahead of this machine's clock that the next life would have to wait for it.
    const { clock, save } = this.#ports;
    const roomMs = clockAheadMsMax - clock.aheadMs(stamp);
    const ms = stamp.ms + Math.max(1, Math.min(stampsReservedMs, roomMs));
    if (ms <= this.#reservedMs) return;
    await save(ms);
    // failpoint: stamps.saved
    this.#reservedMs = ms;
  }

  /** Issues nothing more, and gives back what was reserved and not used. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#saving?.catch(() => {});
    if (this.#issuedBelowMs < this.#reservedMs) await this.#ports.save(this.#issuedBelowMs);
  }
}

export function clockBehind(aheadMs: number): CodedError {
  return new CodedError(
    'CLOCK_BEHIND',
    `the clock here lies ${aheadMs} ms behind stamps that exist, ${clockAheadMsMax} is the most`,
    {
      hint:
        'set the clock right, or write through another server; where it is right and was ahead ' +
        `before, writes go on by themselves in ${Math.ceil((aheadMs - clockAheadMsMax) / 1_000)} s`,
      details: { behindMs: aheadMs, outcome: 'rejected' },
    },
  );
}
