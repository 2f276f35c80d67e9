// Converts small pickled values, such as devices, to plain JSON values. Pure.
import { foreignDeviceBytesMax, foreignValueDepthMax } from '@ringwright/base/limits';
import { kindOf, type Pickled } from './pickled.ts';
import { swiftInvalid, swiftTooLarge } from './swift-file-error.ts';

/** Minimum cost of a value in memory and in JSON; for a container, with its first member. */
const BYTES_PER_CONTAINER = 64;
const BYTES_PER_SCALAR = 8;

/**
 * Returns objects for dictionaries, and arrays for lists and tuples. A pickle can refer to one
 * value in many places at two bytes each, so all copies are counted before they are made. Throws
 * SWIFT_FILE_INVALID, SWIFT_FILE_TOO_LARGE.
 */
export function plainOfPickled(value: Pickled): unknown {
  return plainOf(value, { depth: 0, budget: { left: foreignDeviceBytesMax } });
}

interface Within {
  readonly depth: number;
  readonly budget: { left: number };
}

function plainOf(value: Pickled, { depth, budget }: Within): unknown {
  spend(budget, value);
  if (value === null || typeof value !== 'object') return value;
  if (value.kind === 'float') return value.value;
  if (depth > foreignValueDepthMax) {
    throw swiftInvalid('depth of a value', depth, `${foreignValueDepthMax} or less`);
  }
  const within = { depth: depth + 1, budget };
  if (value.kind === 'list' || value.kind === 'tuple') {
    return value.items.map((item) => plainOf(item, within));
  }
  if (value.kind === 'dict') {
    return Object.fromEntries(
      Array.from(value.members, ([name, member]) => {
        spend(budget, name);
        return [name, plainOf(member, within)];
      }),
    );
  }
  throw swiftInvalid('a value of a device', kindOf(value), 'text, numbers, lists and the like');
}

function spend(budget: { left: number }, value: Pickled): void {
  const isContainer = typeof value === 'object' && value !== null && value.kind !== 'float';
  const length = typeof value === 'string' ? value.length : 0;
  budget.left -= (isContainer ? BYTES_PER_CONTAINER : BYTES_PER_SCALAR) + length;
  if (budget.left >= 0) return;
  const found = foreignDeviceBytesMax - budget.left;
  throw swiftTooLarge('bytes of one device', found, foreignDeviceBytesMax);
}
