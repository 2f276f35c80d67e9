// The input of every answer of `why`.
import type { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { OpenedRing } from '@ringwright/repository/open-ring';
import { hoursOf, MS_PER_HOUR } from '../../cli/hours.ts';
import type { Context } from '../../cli/verb.ts';
import type { PreparedPlan } from '../../plan/prepare-plan.ts';
import { stateOf } from '../../versions/state-of-version.ts';

export interface WhyInput {
  readonly context: Context;
  readonly opened: OpenedRing;
  readonly head: StoredVersion;
  /** The plan that a commit would make now, or the error that prevents it. */
  readonly next: PreparedPlan | CodedError;
}

/** Returns the hours until minPartHours lets the partition move again; 0 if it may move now. */
export function hoursFrozen({ context, opened, head }: WhyInput, partition: number): number {
  const touched = head.ring.minVersions[partition] ?? 0;
  const made = hoursOf(opened.entries).get(touched);
  const { minPartHours, restedThrough = 0 } = stateOf(head);
  if (made === undefined || touched <= restedThrough) return 0;
  const passed = context.nowMs() / MS_PER_HOUR - made;
  return Math.max(0, minPartHours - passed);
}
