// Asks for, sets and prints the rate at which servers send and receive copies.

import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { copyRateMin } from '@ringwright/base/limits-copies';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { copyRate } from '@ringwright/wire/copies';
import { usage } from '../cli/arguments.ts';
import type { Answer, Context } from '../cli/command.ts';
import { parseBytes, printBytes } from '../cli/print-bytes.ts';
import { ringTargets, type Target } from '../servers/ring-targets.ts';
import { fanOut, withServer } from '../servers/server-connection.ts';
import { statusOrWhyNot } from '../servers/server-status.ts';
import { type SilentServer, silentServer } from '../servers/silent-servers.ts';
import { hasNoAccess, hasNoRing, type StatusByDevice } from './move-rows.ts';
import { noteControl } from './note-control.ts';

const rateTimeoutMs = 5_000;

interface CopyRate {
  /** Bytes per second in each direction; null: as fast as disk and network allow. */
  readonly rate: number | null;
  /** Milliseconds until a rate lent by a rollout lapses; null: no loan. */
  readonly lentMs: number | null;
}

export type Servers = readonly Pick<Target, 'address'>[];

/** Returns rates by address, for servers that answer. */
export async function askCopyRates(servers: Servers): Promise<ReadonlyMap<string, CopyRate>> {
  const rates = await fanOut(servers, async ({ address }) => {
    const status = await statusOrWhyNot(address);
    if (status instanceof CodedError || status.copyPace === undefined) return [];
    const { allowed: rate, lentMs } = status.copyPace;
    return [[address, { rate, lentMs }] as const];
  });
  return new Map(rates.flat());
}

/** A server that did not receive a new rate. */
export interface RateFailure {
  readonly address: string;
  readonly reason: string;
}

/**
 * Sets the rate of servers: with a loan for at most copyLoanMs, otherwise until they restart.
 * Returns the servers that did not receive it.
 */
export async function setCopyRates(
  servers: Servers,
  { rate, loan = null }: { readonly rate: number | null; readonly loan?: string | null },
): Promise<RateFailure[]> {
  const request = { bytesPerSecond: rate === null ? null : Math.round(rate), loan };
  const outcomes = await fanOut(servers, async ({ address }) => {
    const answer = await resultOrError(
      withServer(address, (server) => server.call(copyRate, request, rateTimeoutMs)),
    );
    return answer instanceof CodedError ? [{ address, reason: answer.message }] : [];
  });
  return outcomes.flat();
}

/** Throws USAGE. `none` restores the rate with which the server was started. */
export function parseRate(written: string, name: string): number | null {
  if (written === 'none') return null;
  const rate = parseBytes(written, name);
  if (rate >= copyRateMin) return rate;
  throw usage(`${name} ${written}: expected at least ${copyRateMin / 1024}KiB/s`);
}

/** Returns `50.0 MB/s, lent for 28 s`. */
export function rateText({ rate, lentMs }: CopyRate): string {
  if (rate === null) return '-';
  const lent = lentMs === null ? '' : `, lent for ${Math.ceil(lentMs / 1_000)} s`;
  return `${printBytes(rate)}/s${lent}`;
}

/**
 * Returns `50.0 MB/s on 3 of 4 servers` and the like, out of all `servers`; empty without limits.
 */
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

/** Returns `held` as a clause; empty if `held` is. */
export function rateClause(held: string, arePaused: boolean): string {
  return held === '' ? '' : `${arePaused ? 'when resumed, ' : ''}copies are limited to ${held}`;
}

/** Returns the rates for --json, and which of them are loans. */
export function ratesJson(rates: ReadonlyMap<string, CopyRate>) {
  const all = [...rates];
  const lent = all.filter(([, { lentMs }]) => lentMs !== null);
  return {
    rates: Object.fromEntries(all.map(([name, { rate }]) => [name, rate])),
    lentMs: Object.fromEntries(lent.map(([name, { lentMs }]) => [name, lentMs])),
  };
}

/** Returns rates by address. A removed server that does not answer is not listed as unanswered. */
export function ratesBy(targets: readonly Target[], statuses: StatusByDevice) {
  const rates = new Map<string, CopyRate>();
  const unanswered: string[] = [];
  for (const { address, devices } of targets) {
    const found = devices.flatMap((id) => statuses.get(id) ?? []);
    const status = found.find((one) => !(one instanceof Error));
    if (status !== undefined && !(status instanceof Error)) rates.set(address, status);
    else if (found.length > 0 && !found.every(hasNoRing)) unanswered.push(address);
  }
  return { rates, unanswered };
}

/** Returns the servers that run, but refuse the token of this command, or that it shows none. */
export function refusingServers(
  targets: readonly Target[],
  statuses: StatusByDevice,
): SilentServer[] {
  return targets.flatMap(({ address, devices }) => {
    const refusal = devices.map((id) => statuses.get(id)).find(hasNoAccess);
    return refusal === undefined ? [] : [silentServer(address, refusal)];
  });
}

/** Without a rate it only shows the present ones. Throws USAGE. */
export async function rateAnswer(
  context: Context,
  head: StoredVersion,
  args: readonly string[],
): Promise<Answer> {
  const { ring, state } = head;
  const [word, ...more] = args;
  if (more.length > 0)
    throw usage(`rate ${args.join(' ')}: expected one rate, such as 50MB/s, or none`);
  const targets = ringTargets(ring, state);
  const rate = word === undefined ? undefined : parseRate(word, 'rate');
  const failures = rate === undefined ? [] : await setCopyRates(targets, { rate });
  if (rate !== undefined && failures.length < targets.length) {
    await noteControl(context, head, {
      message: `rate: ${word}`,
      details: { rate: rate ?? 'none' },
    });
  }
  const rates = await askCopyRates(targets);
  const { keyspace } = ring;
  const held = ratesText(rates, targets.length);
  const copies = `copies ${held === '' ? 'have no limit' : `are limited to ${held}`}`;
  const silentCount = targets.length - rates.size;
  return {
    json: {
      ...{ ring: keyspace, ...ratesJson(rates) },
      deaf: failures.map(({ address, reason }) => `${address}: ${reason}`),
      changed: rate !== undefined,
    },
    lines: [
      `${keyspace}: ${rates.size === 0 ? 'no server answered, so the limits of copies are unknown' : copies}`,
      rate === null && held !== '' && 'the remaining limits are their own --copy-rate',
      ...failures.map(({ address, reason }) => `${address} was not notified: ${reason}`),
      failures.length === 0 &&
        silentCount > 0 &&
        `${counted(silentCount, 'server')} did not answer`,
    ],
    next: context.next(ring.moves.length > 0 ? `rollout ${keyspace}` : `servers ${keyspace}`),
    exit: failures.length > 0 || silentCount > 0 ? 4 : 0,
  };
}
