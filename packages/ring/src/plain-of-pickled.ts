// Pickled values as plain JSON values: small ones, such as a device. Pure.
import { foreignValueDepthMax } from '@ringwright/base/limits';
import { kindOf, type Pickled } from './pickled.ts';
import { swiftInvalid, swiftTooLarge } from './swift-file-error.ts';

/** A value may be named in many places of a pickle, so its plain form could be far larger. */
const VALUES_MAX = 4_096;

/** Objects for dictionaries, arrays for lists and tuples. Throws SWIFT_FILE_INVALID. */
export function plainOfPickled(value: Pickled): unknown {
  return plainOf(value, { depth: 0, budget: { left: VALUES_MAX } });
}

interface Within {
  readonly depth: number;
  readonly budget: { left: number };
}

function plainOf(value: Pickled, { depth, budget }: Within): unknown {
  budget.left -= 1;
  if (budget.left < 0) throw swiftTooLarge('values in one device', VALUES_MAX + 1, VALUES_MAX);
  if (value === null || typeof value !== 'object') return value;
  if (depth > foreignValueDepthMax) {
    throw swiftInvalid('depth of a value', depth, `${foreignValueDepthMax} or less`);
  }
  const within = { depth: depth + 1, budget };
  if (value.kind === 'list' || value.kind === 'tuple') {
    return value.items.map((item) => plainOf(item, within));
  }
  if (value.kind === 'dict') {
    return Object.fromEntries(
      [...value.members].map(([name, one]) => [name, plainOf(one, within)]),
    );
  }
  throw swiftInvalid('a value of a device', kindOf(value), 'text, numbers, lists and the like');
}
