// A rate of copies that is lent to servers for the time of a rollout.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { copyLoanMs, copyLoanRenewMs } from '@ringwright/base/limits-copies';
import type { Context } from '../cli/verb.ts';
import { askCopyRates, type Deaf, ratesText, type Servers, setCopyRates } from './copy-rates.ts';

type Told = Pick<Context, 'tell' | 'atInterrupt'>;

/**
 * Copies go at `rate` until the function returned is called, or the program is interrupted: then
 * each server has its own rate back. It has it soon by itself when this program dies, or nobody can
 * tell it.
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
  // Those that never heard of it have their own rate.
  const borrowers = new Set<string>();
  const lend = async (): Promise<readonly Deaf[]> => {
    const deaf = await say(rate);
    const names = new Set(deaf.map(({ address }) => address));
    for (const { address } of servers) if (!names.has(address)) borrowers.add(address);
    return deaf;
  };
  const giveBack = async (): Promise<void> => {
    over.abort();
    // What is said now must not arrive after the last word.
    await saying;
    for (const { address } of await say(null)) {
      if (!borrowers.has(address)) continue;
      const seconds = copyLoanMs / 1_000;
      context.tell(`${address} does not answer; it has its own rate back within ${seconds} s`);
    }
  };
  // Before the first server hears of it.
  const forget = context.atInterrupt(giveBack);
  const first = lend();
  saying = first;
  for (const { address, reason } of await first) {
    const why = reason.startsWith(address) ? reason : `${address}: ${reason}`;
    context.tell(`${why}; it has not heard of the rate, and goes at its own`);
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
 * Lends a rate to the servers until the function returned is called. With null nothing changes, and
 * what an earlier word holds back is told.
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
    context.tell(`${ring}: copies go at ${held}; ${lift} leaves each server its own --copy-rate`);
  }
  return () => Promise.resolve();
}
