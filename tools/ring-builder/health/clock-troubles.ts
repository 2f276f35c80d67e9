// Finds servers whose clocks differ from the others (beyond a minute they refuse writes), and a
// difference between most of them and this machine. Pure.
import { clockAheadMsMax } from '@ringwright/base/limits';
import type { StatusByAddress } from '../servers/ask-servers.ts';
import type { ClockReading } from '../servers/server-status.ts';
import type { Trouble } from './trouble.ts';

/** Any time service keeps clocks closer than this. The warning comes before writes fail. */
const CLOCK_AWAY_MS_MAX = 10_000;

/** `addresses`: servers of the ring. The clocks of all servers that answered decide the time. */
export function clockTroubles(
  ring: string,
  addresses: readonly string[],
  answers: StatusByAddress,
): Trouble[] {
  const offTroubles = awayTroubles(ring, addresses, answers);
  const isWrong = (address: string): boolean => offTroubles.some((one) => one.address === address);
  const others = addresses.filter((address) => !isWrong(address));
  return [
    ...offTroubles,
    ...others.flatMap((address) => waitTroubles(ring, address, answers)),
    ...ownTroubles(ring, answers),
  ];
}

/**
 * Either clock may be wrong. If it is that of this machine, servers refuse its beacons or count
 * them as expired, which looks like their fault.
 */
function ownTroubles(ring: string, answers: StatusByAddress): Trouble[] {
  const middle = medianOf([...answers.values()].flatMap(readingOf));
  if (middle === null || Math.abs(middle.aheadMs) - middle.slackMs <= clockAheadMsMax) return [];
  const why =
    `the clocks of most servers are ${differenceOf(middle.aheadMs)} the clock of this machine; ` +
    'they refuse beacons from here, or count them as expired';
  const hint = 'clock: correct the clock of this machine, unless those of the servers are wrong';
  return [{ ring, address: null, kind: 'clock', why, command: `servers ${ring}`, hint }];
}

/**
 * For a clock that was ahead and is right now: its server refuses writes until the time passes the
 * stamps that it issued.
 */
function waitTroubles(ring: string, address: string, answers: StatusByAddress): Trouble[] {
  const answer = answers.get(address);
  if (answer === undefined || answer instanceof Error) return [];
  const waitMs = (answer.stampsAheadMs ?? 0) - clockAheadMsMax;
  if (waitMs <= 0) return [];
  const left = `${Math.ceil(waitMs / 1_000)} s`;
  const why = `it refuses writes for ${left}: its clock was ahead, and it has stamps of that time`;
  const hint =
    'clock: if it is right now, do not change it; reads continue, writes resume by themselves ' +
    '(to write sooner: "The clocks of all servers were ahead" in OPERATING.md)';
  return [{ ring, address, kind: 'clock', why, command: `servers ${ring}`, hint }];
}

function awayTroubles(
  ring: string,
  addresses: readonly string[],
  answers: StatusByAddress,
): Trouble[] {
  const middle = medianOf([...answers.values()].flatMap(readingOf));
  if (middle === null) return [];
  const wrongClocks = addresses.flatMap((address) => {
    const reading = readingOf(answers.get(address));
    return reading.flatMap(({ aheadMs, slackMs }) => {
      const awayMs = aheadMs - middle.aheadMs;
      const isFar = Math.abs(awayMs) - slackMs - middle.slackMs > CLOCK_AWAY_MS_MAX;
      return isFar ? [{ address, awayMs }] : [];
    });
  });
  const names = wrongClocks.map(({ address }) => address).join(' ');
  const hint = `clock: correct the clock of ${names}, and keep it correct with NTP`;
  const command = `servers ${ring}`;
  return wrongClocks.map(({ address, awayMs }): Trouble => {
    return { ring, address, kind: 'clock', why: whyOf(awayMs), command, hint };
  });
}

function readingOf(answer: ReturnType<StatusByAddress['get']>): ClockReading[] {
  return answer === undefined || answer instanceof Error || answer.clock === undefined
    ? []
    : [answer.clock];
}

/**
 * Returns the median. For an even number of servers, this machine's clock is added. Null for a
 * single server, which cannot be compared.
 */
function medianOf(readings: readonly ClockReading[]): ClockReading | null {
  if (readings.length < 2) return null;
  const ownReading = { aheadMs: 0, slackMs: 0 };
  const allReadings = readings.length % 2 === 0 ? [...readings, ownReading] : readings;
  const sorted = allReadings.toSorted((a, b) => a.aheadMs - b.aheadMs);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

function whyOf(awayMs: number): string {
  const secondsMax = clockAheadMsMax / 1_000;
  return `its clock is ${differenceOf(awayMs)} the others; it refuses writes from ${secondsMax} s on`;
}

function differenceOf(awayMs: number): string {
  const seconds = Math.round(Math.abs(awayMs) / 1_000);
  return `${seconds} s ${awayMs > 0 ? 'ahead of' : 'behind'}`;
}
