// Swift's oldest rings: a pickle inside gzip, of a dictionary or of an object. Pure.
import { devices, fieldsOf, optionalWhole, rows, whole } from './pickled-fields.ts';
import { readPickle } from './read-pickle.ts';
import { requirePartPower, type SwiftRing, tableAndShape } from './swift-ring.ts';

/** The ring of an inflated file without magic. Throws PICKLE_REFUSED, SWIFT_FILE_INVALID. */
export function decodeRingV0(payload: Buffer): SwiftRing {
  const fields = fieldsOf(readPickle(payload), 'RingData');
  // An object's own fields are named with a line below, those of the dictionary without.
  const named = (name: string): string => (fields.has(`_${name}`) ? `_${name}` : name);
  const partPower = 32 - whole(fields, named('part_shift'), [0, 32]);
  requirePartPower(partPower);
  const list = devices(fields);
  const table = rows(fields, named('replica2part2dev_id'));
  return {
    partPower,
    nextPartPower: optionalWhole(fields, 'next_part_power', [0, 32]),
    version: optionalWhole(fields, 'version', [0, Number.MAX_SAFE_INTEGER]),
    devices: list,
    ...tableAndShape(table, { partPower, devices: list }),
  };
}
