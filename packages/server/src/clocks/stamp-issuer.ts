// Issues the stamps of the writes that this device coordinates: none twice, and none below an
// earlier one, even if the machine's clock was set back while the server was down.

import { join } from 'node:path';
import { CodedError, withDetails } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, stampsReservedMs } from '@ringwright/base/limits';
import { type MaybePromise, tryCall } from '@ringwright/base/maybe-promise';
import { type Stamp, stampMsMax } from '@ringwright/base/stamp';
import { messageOf } from '@ringwright/base/thrown';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';

interface StampIssuerPorts extends ClockFile {
  readonly clock: HybridClock;
}

/**
 * The files of a device show the stamps of the partitions it holds, but a coordinator stamps writes
 * of every partition. So "all stamps lie below X" is made durable before a stamp reaches X, and
 * after a restart stamps begin at X. X lies only stampsReservedMs ahead: a restart moves the clock
 * by no more.
 */
export class StampIssuer {
  readonly #ports: StampIssuerPorts;
  /** Durable: stamps below it may be issued. */
  #reservedMs: number;
  /** Every stamp issued so far, also before the last restart, lies below it. */
  #issuedBelowMs: number;
  #saving: Promise<void> | null = null;
  #unsaved: string | null = null;
  #closed = false;

  constructor(ports: StampIssuerPorts) {
    this.#ports = ports;
    this.#reservedMs = ports.savedMs;
    this.#issuedBelowMs = ports.savedMs;
    ports.clock.observe({ ms: ports.savedMs, tie: 0 });
  }

  /**
   * Why the last reservation could not be saved: no write begins here once the one before is used
   * up. Null: it was saved.
   */
  get unsaved(): string | null {
    return this.#unsaved;
  }

  /**
   * Returns a stamp above all that this device has issued or seen. Rejects, with nothing written,
   * with CLOCK_BEHIND while this machine's clock is more than clockAheadMsMax behind those stamps,
   * with DISK_FAILED, and with STORE_CLOSED.
   *
   * `again` is called for the stamp if the disk had to be awaited: what the caller knew about this
   * machine's clock may be out of date by then.
   */
  issue(device: number, again = () => this.issue(device)): MaybePromise<Stamp> {
    return tryCall(() => {
      if (this.#closed) throw new CodedError('STORE_CLOSED', 'the server is closing');
      const { clock } = this.#ports;
      const stamp = clock.next(device);
      const aheadMs = clock.aheadMs(stamp);
      if (aheadMs > clockAheadMsMax) throw clockBehind(aheadMs);
      // This stamp is not used. Another one is taken when the reservation covers it.
      if (stamp.ms >= this.#reservedMs) return this.#renew(stamp).then(again);
      this.#issuedBelowMs = Math.max(this.#issuedBelowMs, stamp.ms + 1);
      // Early enough that no write waits for it under steady load.
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
    // Never so far ahead of this machine's clock that a restarted server would have to wait for it.
    const { clock, save } = this.#ports;
    const roomMs = clockAheadMsMax - clock.aheadMs(stamp);
    const ms = stamp.ms + Math.max(1, Math.min(stampsReservedMs, roomMs));
    if (ms <= this.#reservedMs) return;
    try {
      await save(ms);
      this.#unsaved = null;
    } catch (error) {
      this.#unsaved = messageOf(error);
      // No stamp was issued, so no device was asked: another server may take the write.
      throw withDetails(error, { outcome: 'rejected' });
    }
    // failpoint: stamps.saved
    this.#reservedMs = ms;
  }

  /** Issues nothing more, and returns the part of the reservation that was not used. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#saving?.catch(() => {});
    if (this.#issuedBelowMs < this.#reservedMs) await this.#ports.save(this.#issuedBelowMs);
  }
}

export function clockBehind(aheadMs: number): CodedError {
  const what = `the clock here is ${aheadMs} ms behind existing stamps`;
  const message = `${what}; the maximum is ${clockAheadMsMax}`;
  return new CodedError('CLOCK_BEHIND', message, {
    hint:
      'correct the clock, or write through another server; if it is right now and was ahead ' +
      `before, writes resume by themselves in ${Math.ceil((aheadMs - clockAheadMsMax) / 1_000)} s`,
    details: { behindMs: aheadMs, outcome: 'rejected' },
  });
}

const clockSchema = z.strictObject({ stampsBelowMs: z.int().min(0).max(stampMsMax) });

export interface ClockFile {
  /** Every stamp issued before the restart lies below it; 0: there was no file yet. */
  readonly savedMs: number;
  /** Durable when it resolves. Calls do not overlap. */
  readonly save: (ms: number) => Promise<void>;
}

/**
 * Throws DISK_FAILED if the file exists but cannot be read: with a guess, a stamp might be issued
 * twice.
 */
export async function openClockFile(directory: string): Promise<ClockFile> {
  const file = join(directory, 'clock.json');
  const saved = await readState(file, clockSchema);
  return {
    savedMs: saved?.stampsBelowMs ?? 0,
    save: (ms) => writeState(file, clockSchema, { stampsBelowMs: ms }),
  };
}
