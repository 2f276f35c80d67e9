// How fast servers may give and take copies: asked, told, and printed.

import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { copyRateMin } from '@ringwright/base/limits-copies';
import { copyRate } from '@ringwright/wire/copies';
import { usage } from '../cli/arguments.ts';
import { parseBytes, printBytes } from '../cli/print-bytes.ts';
import { fanOut } from '../servers/fan-out.ts';
import type { Target } from '../servers/ring-targets.ts';
import { withServer } from '../servers/server-connection.ts';
import { statusOrWhyNot } from '../servers/server-status.ts';
import { hasNoRing, type Said } from './move-rows.ts';

const rateTimeoutMs = 5_000;

interface CopyRate {
  /** Bytes a second in each direction; null: as many as the disk and the line bear. */
  readonly rate: number | null;
  /** Milliseconds until what a rollout lends ends by itself; null: it is no loan. */
  readonly lentMs: number | null;
}

export type Servers = readonly Pick<Target, 'address'>[];

/** By address, of those that answer. */
export async function askCopyRates(servers: Servers): Promise<ReadonlyMap<string, CopyRate>> {
  const said = await fanOut(servers, async ({ address }) => {
    const status = await statusOrWhyNot(address);
    if (status instanceof CodedError || status.copyPace === undefined) return [];
    const { allowed: rate, lentMs } = status.copyPace;
    return [[address, { rate, lentMs }] as const];
  });
  return new Map(said.flat());
}

/** A server that did not hear of a rate. */
export interface Deaf {
  readonly address: string;
  readonly reason: string;
}

/**
 * With a loan for copyLoanMs at most, else for this life of their processes. Those that did not
 * hear of it.
 */
export async function setCopyRates(
  servers: Servers,
  { rate, loan = null }: { readonly rate: number | null; readonly loan?: string | null },
): Promise<Deaf[]> {
  const ask = { bytesPerSecond: rate === null ? null : Math.round(rate), loan };
  const outcomes = await fanOut(servers, async ({ address }) => {
    const heard = await orCoded(
      withServer(address, (server) => server.call(copyRate, ask, rateTimeoutMs)),
    );
    return heard instanceof CodedError ? [{ address, reason: heard.message }] : [];
  });
  return outcomes.flat();
}

/** Throws USAGE. `none`: what the server was started with. */
export function parseRate(written: string, name: string): number | null {
  if (written === 'none') return null;
  const rate = parseBytes(written, name);
  if (rate >= copyRateMin) return rate;
  throw usage(`${name} ${written}: wanted ${copyRateMin / 1024}KiB/s or more`);
}

/** `50.0 MB/s, lent for 28 s`. */
export function rateText({ rate, lentMs }: CopyRate): string {
  if (rate === null) return '-';
  const lent = lentMs === null ? '' : `, lent for ${Math.ceil(lentMs / 1_000)} s`;
  return `${printBytes(rate)}/s${lent}`;
}

/** `50.0 MB/s on 3 of 4 servers`, and so on, of all `servers`; empty when nothing is held back. */
export function ratesText(rates: ReadonlyMap<string, CopyRate>, servers: number): string {
  const held = [...rates.values()].filter(({ rate }) => rate !== null);
  const groups = Map.groupBy(held, ({ rate, lentMs }) => `${rate} ${lentMs !== null}`);
  const texts = [...groups.values()].map((group) => {
    const longest = group.reduce((one, other) =>
      (other.lentMs ?? 0) > (one.lentMs ?? 0) ? other : one,
    );
    return `${rateText(longest)} on ${group.length}`;
  });
  return texts.length === 0 ? '' : `${texts.join('; ')} of ${counted(servers, 'server')}`;
}

/** `held` as a clause, empty when it is. */
export function rateClause(held: string, arePaused: boolean): string {
  return held === '' ? '' : `${arePaused ? 'when resumed, ' : ''}copies go at ${held}`;
}

/** For --json: the rates, and which of them are loans. */
export function ratesJson(rates: ReadonlyMap<string, CopyRate>) {
  const all = [...rates];
  const lent = all.filter(([, { lentMs }]) => lentMs !== null);
  return {
    rates: Object.fromEntries(all.map(([name, { rate }]) => [name, rate])),
    lentMs: Object.fromEntries(lent.map(([name, { lentMs }]) => [name, lentMs])),
  };
}

/** By address, as `rate` has it. Of servers whose devices were all removed no answer is missed. */
export function ratesBy(targets: readonly Target[], said: Said) {
  const rates = new Map<string, CopyRate>();
  const unanswered: string[] = [];
  for (const { address, devices } of targets) {
    const found = devices.flatMap((id) => said.get(id) ?? []);
    const status = found.find((one) => !(one instanceof Error));
    if (status !== undefined && !(status instanceof Error)) rates.set(address, status);
    else if (found.length > 0 && !found.every(hasNoRing)) unanswered.push(address);
  }
  return { rates, unanswered };
}
