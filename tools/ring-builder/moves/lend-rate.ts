// Lends servers a copy rate for the duration of a rollout.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { copyLoanMs, copyLoanRenewMs } from '@ringwright/base/limits-copies';
import type { Context } from '../cli/verb.ts';
import {
  askCopyRates,
  type RateFailure,
  ratesText,
  type Servers,
  setCopyRates,
} from './copy-rates.ts';

type Told = Pick<Context, 'tell' | 'atInterrupt'>;

/**
 * Limits copies to `rate` until the returned function is called or the program is interrupted. Then
 * each server gets its own rate back. If this program dies or cannot reach a server, the loan soon
 * lapses by itself.
 */
export async function lendRate(
  context: Told,
  servers: Servers,
  { rate, renewMs = copyLoanRenewMs }: { readonly rate: number; readonly renewMs?: number },
): Promise<() => Promise<void>> {
  const loan = randomUUID();
  const say = (lent: number | null) => setCopyRates(servers, { rate: lent, loan });
  const over = new AbortController();
  let saying: Promise<unknown> = Promise.resolve();
  // Servers that never received the loan still have their own rate.
  const borrowers = new Set<string>();
  const lend = async (): Promise<readonly RateFailure[]> => {
    const deaf = await say(rate);
    const names = new Set(deaf.map(({ address }) => address));
    for (const { address } of servers) if (!names.has(address)) borrowers.add(address);
    return deaf;
  };
  const giveBack = async (): Promise<void> => {
    over.abort();
    // A renewal in progress must not arrive after the return.
    await saying;
    for (const { address } of await say(null)) {
      if (!borrowers.has(address)) continue;
      const seconds = copyLoanMs / 1_000;
      context.tell(`${address} does not answer; it returns to its own rate within ${seconds} s`);
    }
  };
  // Registered before the first server receives the rate.
  const forget = context.atInterrupt(giveBack);
  const first = lend();
  saying = first;
  for (const { address, reason } of await first) {
    const why = reason.startsWith(address) ? reason : `${address}: ${reason}`;
    context.tell(`${why}; it did not receive the rate, and keeps its own`);
  }
  const signal = over.signal;
  const goOn = async (): Promise<void> => {
    while (!signal.aborted) {
      await setTimeout(renewMs, null, { signal, ref: false }).catch(() => null);
      if (signal.aborted) return;
      saying = lend();
      await saying;
    }
  };
  const going = goOn();
  return async () => {
    forget();
    await giveBack();
    await going;
  };
}

/**
 * Lends a rate to the servers until the returned function is called. With null it changes nothing,
 * and reports a rate that was set earlier.
 */
export async function rateOfRollout(
  context: Told,
  { ring, servers }: { readonly ring: string; readonly servers: Servers },
  rate: number | null,
): Promise<() => Promise<void>> {
  if (rate !== null) return lendRate(context, servers, { rate });
  const held = ratesText(await askCopyRates(servers), servers.length);
  if (held !== '') {
    const lift = `ring-builder moves ${ring} rate none`;
    context.tell(
      `${ring}: copies are limited to ${held}; ${lift} returns each server to its own --copy-rate`,
    );
  }
  return () => Promise.resolve();
}
