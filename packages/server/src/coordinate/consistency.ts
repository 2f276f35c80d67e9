// Consistency levels: how many slots of a partition must acknowledge. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { quorumOf } from '@ringwright/ring/quorum';
import { type ConsistencyLevel, consistencyField } from '@ringwright/wire/coordination';

export function slotsNeeded(consistency: ConsistencyLevel, slots: number): number {
  if (consistency === 'one') return 1;
  return consistency === 'all' ? slots : quorumOf(slots);
}

/**
 * Returns the level that a request names, or quorum if it names none. Throws CONSISTENCY_INVALID.
 */
export function parseConsistency(text: string | null): ConsistencyLevel {
  if (text === null) return 'quorum';
  const { success, data } = consistencyField.safeParse(text);
  if (success) return data;
  throw new CodedError('CONSISTENCY_INVALID', `'${text}' is no consistency level`, {
    hint: 'use ?consistency=one, quorum, all or linearizable',
    details: { given: text, levels: consistencyField.options },
  });
}
