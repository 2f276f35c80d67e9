// Changes a key by what its record is now, or only if that fits a condition. No other write comes
// between the record that is read and the one that is written.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError, withDetails } from '@ringwright/base/coded-error';
import { compareStamps, formatStamp } from '@ringwright/base/stamp';
import type { Condition } from '@ringwright/wire/coordination';
import { asOf, identityOf, liveOrNull, type WireContent } from '../replica/wire-record.ts';
import { checkSession, coordinateRead, type KeyRequest, type Written } from './coordinate.ts';
import { type ChangeFunction, type Decided, type NewContent, propose } from './propose.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

type Changed = Decided | { readonly record: WireContent | null; readonly isChanged: false };

/**
 * Calls `change` with the record that a read finds, and then with the one that each round finds. So
 * a change that is not wanted costs one read. Throws what propose throws.
 */
export function changeKey(
  ports: CoordinatorPorts,
  { keyspace, key, session }: Omit<KeyRequest, 'consistency'>,
  change: ChangeFunction,
): Promise<Changed> {
  return ports.mutex.run(`${keyspace}/${byteText(key)}`, async () => {
    if (session) checkSession(ports.clock, session);
    const target = { keyspace, key, nowMs: ports.clock.nowMs() };
    const reading = Promise.resolve(
      coordinateRead(ports, { ...target, consistency: 'linearizable' }),
    );
    const found = await reading.catch((error: unknown) => {
      throw withDetails(error, { outcome: 'rejected' }); // nothing is written yet
    });
    if (change(found) === null) return { record: found, isChanged: false };
    const { record, isChanged } = await propose(ports, { ...target, change });
    return { record: asOf(record, target.nowMs), isChanged };
  });
}

/** `present` is null if the key has no value: no record, a tombstone, or an expired record. */
export type MayWrite = (present: WireContent | null) => boolean;

/**
 * Writes if `mayWrite` accepts the present record. Between that record and the new one, nothing
 * else was ever in force on a quorum of slots. Throws PRECONDITION_FAILED with the stamp of the
 * present record, CONSISTENCY_INVALID for the levels one and all, STORE_BUSY, and what propose
 * throws.
 */
export async function writeIf(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
  mayWrite: MayWrite,
): Promise<Written> {
  if (request.consistency === 'one' || request.consistency === 'all') {
    const message = `a condition is not possible at level ${request.consistency}`;
    throw new CodedError('CONSISTENCY_INVALID', message, {
      hint: 'conditions are decided by a quorum: leave the level out, or use linearizable',
    });
  }
  const { value, expiresMs } = request;
  const end = ports.longWrites.begin(value);
  const { record, isChanged } = await changeKey(ports, request, (present) =>
    mayWrite(liveOrNull(present)) ? { value, expiresMs } : null,
  ).finally(end);
  if (isChanged) return record;
  const present = liveOrNull(record);
  const stamp = present === null ? null : formatStamp(identityOf(present));
  const message = present === null ? 'the key has no value' : `the record has the stamp ${stamp}`;
  throw new CodedError('PRECONDITION_FAILED', `${message}: the condition does not hold`, {
    hint: 'read the key, and write again on the condition that it has not changed',
    details: { stamp, ...(present?.expiresMs && { expiresMs: present.expiresMs }) },
  });
}

export function mayWriteIf(condition: Condition): MayWrite {
  return (present) => {
    if (typeof condition === 'string') return (condition === 'absent') === (present === null);
    return present !== null && compareStamps(identityOf(present), condition) === 0;
  };
}
