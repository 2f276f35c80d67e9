// How fast servers may give and take copies: asked, told, and lent for the time of a rollout.
import { CodedError } from '@ringwright/base/coded-error';
import { copyRateMin } from '@ringwright/base/limits-copies';
import { copyRate } from '@ringwright/wire/copies';
import { usage } from '../arguments.ts';
import { fanOut } from '../fan-out.ts';
import { parseBytes, printBytes } from '../print-bytes.ts';
import type { Target } from '../ring-targets.ts';
import { withServer } from '../server-connection.ts';
import { statusOrWhyNot } from '../server-status.ts';
import type { Context } from '../verb.ts';

const rateTimeoutMs = 5_000;

/** Bytes a second in each direction, by address; null: as many as the disk and the line bear. */
export type CopyRates = ReadonlyMap<string, number | null>;
type Servers = readonly Pick<Target, 'address'>[];

/** Of those that answer. */
export async function askCopyRates(servers: Servers): Promise<CopyRates> {
  const said = await fanOut(servers, async ({ address }) => {
    const status = await statusOrWhyNot(address);
    const rate = status instanceof CodedError ? undefined : status.copyPace?.allowed;
    return rate === undefined ? [] : [[address, rate] as const];
  });
  return new Map(said.flat());
}

/** For this life of their processes. Addresses that did not hear of it, with the reason. */
export async function setCopyRates(rates: CopyRates, nowMs: number): Promise<string[]> {
  const outcomes = await fanOut([...rates], async ([address, rate]) => {
    try {
      const ask = { bytesPerSecond: rate === null ? null : Math.round(rate) };
      await withServer(address, nowMs, (server) => server.call(copyRate, ask, rateTimeoutMs));
      return null;
    } catch (error) {
      if (error instanceof CodedError) return `${address}: ${error.message}`;
      throw error;
    }
  });
  return outcomes.filter((reason) => reason !== null);
}

/** Throws USAGE. `none`: what the server was started with. */
export function parseRate(written: string, name: string): number | null {
  if (written === 'none') return null;
  const rate = parseBytes(written, name);
  if (rate >= copyRateMin) return rate;
  throw usage(`${name} ${written}: wanted ${printBytes(copyRateMin)}/s or more`);
}

/** `50.0 MB/s on 3 of 4 servers`; empty when nothing is held back. */
export function ratesText(rates: CopyRates): string {
  const counts = new Map<number, number>();
  for (const rate of rates.values()) {
    if (rate !== null) counts.set(rate, (counts.get(rate) ?? 0) + 1);
  }
  const texts = [...counts].map(([rate, count]) => `${printBytes(rate)}/s on ${count}`);
  return texts.length === 0 ? '' : `${texts.join(', ')} of ${rates.size} servers`;
}

/**
 * Copies go at `rate` until the function returned is called, or the program is interrupted: then
 * what was before is given back. A
 * server that somebody has told another rate meanwhile, or that has restarted, keeps its own.
 */
async function lendCopyRate(
  context: Pick<Context, 'nowMs' | 'tell' | 'atInterrupt'>,
  servers: Servers,
  rate: number,
): Promise<() => Promise<void>> {
  const lent = Math.round(rate);
  const before = await askCopyRates(servers);
  const giveBack = async (): Promise<void> => {
    const now = await askCopyRates(servers);
    const back = [...before].filter(([address, was]) => was !== lent && now.get(address) === lent);
    const kept = await setCopyRates(new Map(back), context.nowMs());
    for (const reason of kept) context.tell(`keeps the rate of this rollout: ${reason}`);
  };
  // Before the first server hears of it.
  const forget = context.atInterrupt(giveBack);
  const asked = new Map(servers.map(({ address }) => [address, lent]));
  const deaf = await setCopyRates(asked, context.nowMs());
  for (const reason of deaf) context.tell(`goes at the rate it had: ${reason}`);
  return async () => {
    forget();
    await giveBack();
  };
}

/**
 * Lends a rate to the servers until the function returned is called. With null nothing changes, and
 * what an earlier word holds back is told.
 */
export async function rateOfRollout(
  context: Pick<Context, 'nowMs' | 'tell' | 'atInterrupt'>,
  { ring, servers }: { readonly ring: string; readonly servers: Servers },
  rate: number | null,
): Promise<() => Promise<void>> {
  if (rate !== null) return lendCopyRate(context, servers, rate);
  const held = ratesText(await askCopyRates(servers));
  if (held !== '') {
    context.tell(`${ring}: copies go at ${held}; ring-builder moves ${ring} rate none lifts that`);
  }
  return () => Promise.resolve();
}
