// Lends servers a copy rate for the duration of a rollout.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { copyLoanMs, copyLoanRenewMs } from '@ringwright/base/limits-copies';
import type { Context } from '../cli/command.ts';
import {
  askCopyRates,
  type RateFailure,
  ratesText,
  type Servers,
  setCopyRates,
} from './copy-rates.ts';

type LoanContext = Pick<Context, 'tell' | 'atInterrupt'>;

/** The servers of the head, which another command may move during the rollout. */
type ServersNow = () => Servers;

/**
 * Limits copies to `rate` until the returned function is called or the program is interrupted. Then
 * each server gets its own rate back. If this program dies or cannot reach a server, the loan soon
 * lapses by itself.
 */
export async function lendRate(
  context: LoanContext,
  serversNow: ServersNow,
  { rate, renewMs = copyLoanRenewMs }: { readonly rate: number; readonly renewMs?: number },
): Promise<() => Promise<void>> {
  const loan = randomUUID();
  const sendRate = (servers: Servers, lent: number | null) =>
    setCopyRates(servers, { rate: lent, loan });
  const controller = new AbortController();
  let sending: Promise<unknown> = Promise.resolve();
  // Servers that never received the loan still have their own rate.
  const borrowers = new Set<string>();
  const asked = new Set<string>();
  const lend = async (): Promise<readonly RateFailure[]> => {
    const servers = serversNow();
    for (const { address } of servers) asked.add(address);
    const failures = await sendRate(servers, rate);
    const names = new Set(failures.map(({ address }) => address));
    for (const { address } of servers) if (!names.has(address)) borrowers.add(address);
    return failures;
  };
  const endLoan = async (): Promise<void> => {
    controller.abort();
    // A renewal in progress must not arrive after the return.
    await sending;
    const all = [...asked].map((address) => ({ address }));
    for (const { address } of await sendRate(all, null)) {
      if (!borrowers.has(address)) continue;
      const seconds = copyLoanMs / 1_000;
      context.tell(`${address} does not answer; it returns to its own rate within ${seconds} s`);
    }
  };
  // Registered before the first server receives the rate.
  const forget = context.atInterrupt(endLoan);
  const first = lend();
  sending = first;
  for (const { address, reason } of await first) {
    const why = reason.startsWith(address) ? reason : `${address}: ${reason}`;
    context.tell(`${why}; it did not receive the rate, and keeps its own`);
  }
  const signal = controller.signal;
  const keepRenewing = async (): Promise<void> => {
    while (!signal.aborted) {
      await setTimeout(renewMs, null, { signal, ref: false }).catch(() => null);
      if (signal.aborted) return;
      sending = lend();
      await sending;
    }
  };
  const renewals = keepRenewing();
  return async () => {
    forget();
    await endLoan();
    await renewals;
  };
}

/**
 * Lends a rate to the servers until the returned function is called. With null it changes nothing,
 * and reports a rate that was set earlier.
 */
export async function rateOfRollout(
  context: LoanContext,
  { ring, serversNow }: { readonly ring: string; readonly serversNow: ServersNow },
  rate: number | null,
): Promise<() => Promise<void>> {
  if (rate !== null) return lendRate(context, serversNow, { rate });
  const servers = serversNow();
  const held = ratesText(await askCopyRates(servers), servers.length);
  if (held !== '') {
    const lift = `ring-builder moves ${ring} rate none`;
    context.tell(
      `${ring}: copies are limited to ${held}; ${lift} returns each server to its own --copy-rate`,
    );
  }
  return () => Promise.resolve();
}
