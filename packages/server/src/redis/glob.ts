// Patterns of MATCH and CONFIG GET, as in Redis: `*`, `?`, `[a-z]`, `[^a]` and `\x`. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax, patternBytesMax } from '@ringwright/base/limits';

const [STAR, QUESTION, OPEN, CLOSE] = [0x2a, 0x3f, 0x5b, 0x5d];
const [CARET, DASH, BACKSLASH] = [0x5e, 0x2d, 0x5c];

const BYTE_VALUES = 256;
const WORD_BITS = 32;

/**
 * A pattern as a nondeterministic automaton with one bit per state. State n means that the first n
 * places of the pattern, each of which takes one byte, have consumed all bytes so far (Baeza-Yates
 * and Gonnet's Shift-And).
 */
interface Automaton {
  /** Number of words that hold all states. The last state is the one that matches. */
  readonly words: number;
  readonly places: number;
  /** The states that a byte may lead to: `words` words for each byte value. */
  readonly entered: Int32Array;
  /** The states in which a star accepts any byte. */
  readonly starred: Int32Array;
}

/**
 * Returns the matcher of a pattern. It reads each byte of a text once, and does at most one step
 * per byte for every 32 bytes of the pattern, so no pattern and no text make it slow. Throws
 * PATTERN_TOO_LARGE.
 */
export function globMatcher(pattern: Uint8Array): (text: Uint8Array) => boolean {
  checkPattern(pattern.length);
  const automaton = readPattern(pattern);
  return (text) => matches(automaton, text);
}

/** Returns the prefix that every matching text begins with. */
export function globPrefix(pattern: Uint8Array): Uint8Array {
  const prefix: number[] = [];
  for (let at = 0; at < pattern.length && prefix.length < keyBytesMax; at += 1) {
    const byte = pattern[at] ?? 0;
    if (byte === STAR || byte === QUESTION || byte === OPEN) break;
    const place = readPlace(pattern, at);
    prefix.push(pattern[place.end] ?? 0);
    at = place.end;
  }
  return Uint8Array.from(prefix);
}

/** `bytes`: of all patterns of one request together. Throws PATTERN_TOO_LARGE. */
export function checkPattern(bytes: number): void {
  if (bytes <= patternBytesMax) return;
  const message = `a pattern of ${bytes} bytes; the maximum is ${patternBytesMax}`;
  const hint = 'keys are no longer than that: use a shorter pattern, and filter the answer';
  throw new CodedError('PATTERN_TOO_LARGE', message, {
    hint,
    details: { bytes, max: patternBytesMax },
  });
}

function matches({ words, places, entered, starred }: Automaton, text: Uint8Array): boolean {
  const states = new Int32Array(words);
  states[0] = 1;
  /**
   * First word to look at. Whatever lower words can lead to, a starred state in this word leads to
   * as well.
   */
  let first = 0;
  for (const byte of text) {
    let [alive, highestStarred] = [0, first];
    for (let word = words - 1; word >= first; word -= 1) {
      const before = states[word] ?? 0;
      const carried = word === first ? 0 : (states[word - 1] ?? 0) >>> (WORD_BITS - 1);
      const loops = before & (starred[word] ?? 0);
      const next = loops | (((before << 1) | carried) & (entered[byte * words + word] ?? 0));
      states[word] = next;
      alive |= next;
      if (loops !== 0 && word > highestStarred) highestStarred = word;
    }
    if (alive === 0) return false;
    first = highestStarred;
  }
  return hasBit(states, places);
}

function readPattern(pattern: Uint8Array): Automaton {
  const words = Math.floor(pattern.length / WORD_BITS) + 1;
  const entered = new Int32Array(BYTE_VALUES * words);
  const starred = new Int32Array(words);
  let places = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === STAR) {
      setBit(starred, places);
      continue;
    }
    const { accepts, end } = readPlace(pattern, at);
    places += 1;
    for (let byte = 0; byte < BYTE_VALUES; byte += 1) {
      if (accepts(byte)) setBit(entered, byte * words * WORD_BITS + places);
    }
    at = end;
  }
  return { words, places, entered, starred };
}

function setBit(bits: Int32Array, bit: number): void {
  const word = Math.floor(bit / WORD_BITS);
  bits[word] = (bits[word] ?? 0) | (1 << (bit % WORD_BITS));
}

function hasBit(bits: Int32Array, bit: number): boolean {
  return ((bits[Math.floor(bit / WORD_BITS)] ?? 0) & (1 << (bit % WORD_BITS))) !== 0;
}

interface Place {
  readonly accepts: (byte: number) => boolean;
  /** Index of its last byte in the pattern. */
  readonly end: number;
}

function readPlace(pattern: Uint8Array, at: number): Place {
  if (pattern[at] === QUESTION) return { accepts: () => true, end: at };
  if (pattern[at] === OPEN) return readClass(pattern, at + 1);
  const escaped = pattern[at] === BACKSLASH && at + 1 < pattern.length;
  const end = escaped ? at + 1 : at;
  const literal = pattern[end];
  return { accepts: (byte) => byte === literal, end };
}

/** Reads a class up to its closing bracket; an unclosed class ends with the pattern. */
function readClass(pattern: Uint8Array, start: number): Place {
  const inverted = pattern[start] === CARET;
  const allowed = new Set<number>();
  let at = inverted ? start + 1 : start;
  for (; at < pattern.length && pattern[at] !== CLOSE; at += 1) {
    if (pattern[at] === BACKSLASH && at + 1 < pattern.length) at += 1;
    const first = pattern[at] ?? 0;
    const last = pattern[at + 2];
    if (pattern[at + 1] === DASH && last !== undefined && last !== CLOSE) {
      for (let byte = Math.min(first, last); byte <= Math.max(first, last); byte += 1) {
        allowed.add(byte);
      }
      at += 2;
    } else allowed.add(first);
  }
  return { accepts: (byte) => allowed.has(byte) !== inverted, end: at };
}
