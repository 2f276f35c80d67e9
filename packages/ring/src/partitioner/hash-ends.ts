// The ends of intervals of the hash circle: equal, random from a seed, or as typed. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { seededRandom } from '@ringwright/base/random';
import { hashPositions } from './hash-intervals.ts';

/** Returns the end of one of `count` equal intervals: index/count of the circle, rounded down. */
export function equalEnd(index: number, count: number): number {
  // Computed in two halves, each of which a double holds exactly.
  const high = Math.floor((index * 65_536) / count);
  const rest = index * 65_536 - high * count;
  return high * 65_536 + Math.floor((rest * 65_536) / count);
}

/** Returns the cuts of an interval into equal parts; fewer when it has fewer hashes than parts. */
export function hashCuts(
  { start, end }: { readonly start: number; readonly end: number },
  parts: number,
): number[] {
  const length = (end - start + hashPositions) % hashPositions || hashPositions;
  return Array.from({ length: Math.min(length, parts) - 1 }, (_, index) => {
    const part = Math.floor(length * ((index + 1) / parts));
    return (start + part) % hashPositions;
  });
}

/** Returns `count` distinct positions, ascending. A seed gives the same ones on every machine. */
export function randomEnds(count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(random.next());
  return [...Uint32Array.from(drawn).sort()];
}

/**
 * Parses a position: a fraction of the circle (.75, rounded down), or all 32 bits in hex
 * (0xc0000000). Throws INTERVALS_INVALID.
 */
export function parsePosition(text: string): number {
  if (/^0x[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text.slice(2), 16);
  const fraction = /^(0|0?\.\d+|0\.)$/.test(text) ? Number(text) : Number.NaN;
  if (fraction < 1) return Math.floor(fraction * hashPositions);
  throw new CodedError(
    'INTERVALS_INVALID',
    `${JSON.stringify(text)} is not a position on the circle, expected 0 or more and less than 1`,
    {
      hint: 'use a fraction such as .75, or all 32 bits in hex, such as 0xc0000000',
      details: { found: text, wanted: '0 to 1' },
    },
  );
}

/** Returns a position as the shortest fraction that parses back to it, or else in hex. */
export function positionText(position: number): string {
  for (let digits = 1; digits < 10; digits += 1) {
    const text = (position / hashPositions).toFixed(digits);
    for (const candidate of [text, (Number(text) + 10 ** -digits).toFixed(digits)]) {
      if (Number(candidate) < 1 && Math.floor(Number(candidate) * hashPositions) === position) {
        return (
          candidate
            .replace(/^0(?=\.)/, '')
            .replace(/(\.\d*?)0+$/, '$1')
            .replace(/\.$/, '') || '0'
        );
      }
    }
  }
  return `0x${position.toString(16).padStart(8, '0')}`;
}
