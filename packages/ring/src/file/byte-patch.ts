// A patch between two runs of bytes: the positions that differ, and the new bytes there. Pure.

/** Compared as a whole first: most of a table is equal in two versions. */
const blockBytes = 4_096;
/** Runs closer than this are merged: a gap and a length take at least two bytes. */
const gapMin = 3;
const varintBytesMax = 5;

interface BytePatch {
  /** Pairs of varints: equal bytes before a run, bytes of the run. */
  readonly runs: Buffer;
  /** The bytes of all runs. */
  readonly literals: Buffer;
}

/** Returns null when the patch would take more than half of `after`. */
export function diffBytes(before: Buffer, after: Buffer): BytePatch | null {
  const numbers: number[] = [];
  const pieces: Buffer[] = [];
  let [end, literalBytes] = [0, 0];
  for (let start = nextDifference(before, after, 0); start < after.length; ) {
    const gap = start - end;
    end = runEnd(before, after, start);
    numbers.push(gap, end - start);
    pieces.push(after.subarray(start, end));
    literalBytes += end - start;
    if (2 * (literalBytes + numbers.length) > after.length) return null;
    start = nextDifference(before, after, end);
  }
  return { runs: encodeVarints(numbers), literals: Buffer.concat(pieces) };
}

function nextDifference(before: Buffer, after: Buffer, from: number): number {
  let at = from;
  while (at < after.length) {
    const blockEnd = Math.min(at + blockBytes, after.length);
    const isEqual =
      blockEnd <= before.length && before.compare(after, at, blockEnd, at, blockEnd) === 0;
    if (isEqual) {
      at = blockEnd;
      continue;
    }
    for (; at < blockEnd; at += 1) if (before[at] !== after[at]) return at;
  }
  return after.length;
}

/** Returns the end of the run at `start`: before `gapMin` equal bytes, or the end of the data. */
function runEnd(before: Buffer, after: Buffer, start: number): number {
  let end = start + 1;
  for (let at = end; at < after.length && at - end < gapMin; at += 1) {
    if (before[at] !== after[at]) end = at + 1;
  }
  return end;
}

/**
 * Returns `length` bytes: those of `before`, changed by the patch. Returns null when the patch
 * exceeds `length`, or has too many or too few literals. The caller has limited `length`.
 */
export function patchBytes(
  before: Buffer,
  { runs, literals }: BytePatch,
  length: number,
): Buffer | null {
  const numbers = decodeVarints(runs);
  if (numbers === null || numbers.length % 2 !== 0) return null;
  const after = Buffer.alloc(length);
  before.copy(after, 0, 0, length);
  let [at, used] = [0, 0];
  for (let index = 0; index < numbers.length; index += 2) {
    const [gap = 0, run = 0] = [numbers[index], numbers[index + 1]];
    at += gap;
    if (at + run > length || used + run > literals.length) return null;
    literals.copy(after, at, used, used + run);
    at += run;
    used += run;
  }
  return used === literals.length ? after : null;
}

function encodeVarints(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (const number of numbers) {
    let left = number;
    for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
    bytes.push(left);
  }
  return Buffer.from(bytes);
}

function decodeVarints(bytes: Buffer): number[] | null {
  const numbers: number[] = [];
  let [number, digits] = [0, 0];
  for (const byte of bytes) {
    number += (byte & 0x7f) * 128 ** digits;
    digits += 1;
    if (digits > varintBytesMax) return null;
    if (byte > 0x7f) continue;
    numbers.push(number);
    [number, digits] = [0, 0];
  }
  return digits === 0 ? numbers : null;
}
