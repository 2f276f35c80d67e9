// Tells servers how fast they may give and take copies, for this life of their processes.
import { CodedError } from '@ringwright/base/coded-error';
import { copyRate } from '@ringwright/wire/copies';
import { fanOut } from '../fan-out.ts';
import type { Target } from '../ring-targets.ts';
import { withServer } from '../server-connection.ts';

const rateTimeoutMs = 5_000;

/** Addresses that did not hear of it, with the reason: they go at the rate they had. */
export async function setCopyRate(
  targets: readonly Pick<Target, 'address'>[],
  bytesPerSecond: number,
  nowMs: number,
): Promise<string[]> {
  const outcomes = await fanOut(targets, async ({ address }) => {
    try {
      const ask = { bytesPerSecond: Math.round(bytesPerSecond) };
      await withServer(address, nowMs, (server) => server.call(copyRate, ask, rateTimeoutMs));
      return null;
    } catch (error) {
      if (error instanceof CodedError) return `${address}: ${error.message}`;
      throw error;
    }
  });
  return outcomes.filter((reason) => reason !== null);
}
