// A conditional write: it is done only if the present record of the key meets the condition.
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, formatStamp } from '@ringwright/base/stamp';
import type { Condition } from '@ringwright/wire/coordination';
import { identityOf, valued, type WireContent } from '../replica/wire-record.ts';
import { changeKey } from './change-key.ts';
import type { KeyRequest, Written } from './coordinate.ts';
import type { NewContent } from './propose.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

/** `present` is null if the key has no value: no record, a tombstone, or an expired record. */
export type MayWrite = (present: WireContent | null) => boolean;

/**
 * Writes if `mayWrite` accepts the present record. Between that record and the new one, nothing
 * else was ever in force on a quorum of slots. Throws PRECONDITION_FAILED with the stamp of the
 * present record, CONSISTENCY_INVALID for the levels one and all, and what propose throws.
 */
export async function writeIf(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
  mayWrite: MayWrite,
): Promise<Written> {
  if (request.consistency === 'one' || request.consistency === 'all') {
    throw new CodedError('CONSISTENCY_INVALID', `a condition at level ${request.consistency}`, {
      hint: 'conditions are decided by a quorum: leave the level out, or use linearizable',
    });
  }
  const { value, expiresMs } = request;
  const { record, isChanged } = await changeKey(ports, request, (present) =>
    mayWrite(valued(present)) ? { value, expiresMs } : null,
  );
  if (isChanged) return record;
  const present = valued(record);
  const stamp = present === null ? null : formatStamp(identityOf(present));
  const message = present === null ? 'the key has no value' : `the record is of ${stamp}`;
  throw new CodedError('PRECONDITION_FAILED', `${message}: the condition does not hold`, {
    hint: 'read the key, and write again on the condition that it is still that',
    details: { stamp, ...(present?.expiresMs && { expiresMs: present.expiresMs }) },
  });
}

export function mayWriteIf(condition: Condition): MayWrite {
  return (present) => {
    if (typeof condition === 'string') return (condition === 'absent') === (present === null);
    return present !== null && compareStamps(identityOf(present), condition) === 0;
  };
}
