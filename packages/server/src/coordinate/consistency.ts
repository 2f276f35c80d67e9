// Consistency levels: how many slots of a partition must have acknowledged. Pure.
import { CodedError } from '@ringwright/base/coded-error';

export type Consistency = 'one' | 'quorum' | 'all' | 'linearizable';

const levels: readonly string[] = ['one', 'quorum', 'all', 'linearizable'];

export function slotsNeeded(consistency: Consistency, slots: number): number {
  if (consistency === 'one') return 1;
  return consistency === 'all' ? slots : Math.floor(slots / 2) + 1;
}

/** The level a request names; quorum when it names none. Throws CONSISTENCY_INVALID. */
export function parseConsistency(text: string | null): Consistency {
  if (text === null) return 'quorum';
  if (levels.includes(text)) return text as Consistency;
  throw new CodedError('CONSISTENCY_INVALID', `'${text}' is no consistency level`, {
    hint: 'use ?consistency=one, quorum, all or linearizable',
    details: { given: text, levels },
  });
}
