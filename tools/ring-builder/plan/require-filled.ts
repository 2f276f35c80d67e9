// Checks that servers have filled the partitions of the last split or merge before the next. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { ringOf } from './commit-plan.ts';
import type { ReportedSizes } from './known-sizes.ts';
import type { PreparedPlan } from './prepare-plan.ts';

/**
 * Throws RESHAPE_UNFIT if the version begins a split or merge while a server has partitions that
 * are not ready. After a restart it may still fill those of the last split or merge, and a ring
 * names only one: the server would drop the files from which they are filled. Servers that did not
 * answer are not judged.
 */
export function requireFilled(prepared: PreparedPlan, sizes: ReportedSizes | null): void {
  const { head, changed, plan } = prepared;
  if (head === null || sizes === null || !changed) return;
  if (head.ring.reshape?.kind !== 'from' || ringOf(prepared).reshape?.kind !== 'to') return;
  const addresses = [...sizes.statuses].flatMap(([address, { rings }]) =>
    rings.some(({ ring, notReady }) => ring === plan.ring && notReady > 0) ? [address] : [],
  );
  if (addresses.length === 0) return;
  const servers = counted(addresses.length, 'server has', 'servers have');
  const what = 'partitions that are not ready, perhaps of the last split or merge';
  throw new CodedError('RESHAPE_UNFIT', `${servers} ${what}: ${addresses.join(', ')}`, {
    hint:
      `ring-builder health ${plan.ring} says what they wait for; repeat this command when all ` +
      'are ready, or with --yes if they belong to no split or merge',
    details: { ring: plan.ring, addresses },
  });
}
