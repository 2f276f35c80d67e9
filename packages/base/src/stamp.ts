// A record's timestamp: 48-bit milliseconds, 16-bit counter, 24-bit device tie-break. Pure.
// Kept as two exact doubles, so comparing and storing needs no BigInt.

export interface Stamp {
  /** Milliseconds since 1970 of the hybrid clock. */
  readonly ms: number;
  /**
   * counter * 2^24 + the device's number: orders stamps of one millisecond; two devices never have
   * equal ones.
   */
  readonly tie: number;
}

const DEVICE_SPAN = 2 ** 24;

export const stampMsMax = 2 ** 48 - 1;
export const stampTieMax = 2 ** 40 - 1;
/** The stamp below all others. */
export const zeroStamp: Stamp = { ms: 0, tie: 0 };

export function makeStamp(ms: number, counter: number, device: number): Stamp {
  return { ms, tie: counter * DEVICE_SPAN + device };
}

/** Negative when a is older than b, 0 when equal, positive when newer. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.ms - b.ms || a.tie - b.tie;
}

export function stampCounter(stamp: Stamp): number {
  return Math.floor(stamp.tie / DEVICE_SPAN);
}

/** Text form `ms.counter.device`, as in HTTP headers: `1763692800000.0.3`. */
export function formatStamp(stamp: Stamp): string {
  return `${stamp.ms}.${stampCounter(stamp)}.${stamp.tie % DEVICE_SPAN}`;
}

export function parseStamp(text: string): Stamp | null {
  const match = /^(\d{1,15})\.(\d{1,5})\.(\d{1,8})$/.exec(text);
  if (match === null) return null;
  const [ms, counter, device] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (ms > stampMsMax || counter > 0xffff || device >= DEVICE_SPAN) return null;
  return makeStamp(ms, counter, device);
}

/** Parses a record's stamp, or its ETag, which is the stamp in quotes. */
export function parseStampOrTag(text: string): Stamp | null {
  const [, inside = text] = /^(?:W\/)?"(.*)"$/.exec(text) ?? [];
  return parseStamp(inside);
}
