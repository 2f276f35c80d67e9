// Whether the disks of the devices that get files have room for them, before a version says so.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { planTraffic } from '@ringwright/builder/ask/plan-traffic';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import type { PlanToCommit } from './commit-plan.ts';
import type { AskedSizes } from './known-sizes.ts';
import { lackingRoom } from './lacking-room.ts';

/**
 * The devices that lack room, which a commit or a revert with a reason takes on. Throws
 * DISK_TOO_SMALL without one. Servers that do not answer in time have room, as far as anybody
 * knows.
 */
export function requireRoom(
  { plan, head }: Pick<PlanToCommit, 'plan' | 'head'>,
  sizes: AskedSizes | null,
  reason: string | null,
): readonly number[] {
  const { ring } = plan;
  const traffic = sizes === null ? null : planTraffic(allMoves(plan), sizes);
  if (head === null || traffic === null) return [];
  const lacking = lackingRoom(head.ring, traffic.devices);
  const [first] = lacking;
  if (first === undefined || reason !== null) return lacking.map(({ device }) => device.id);
  const more = lacking.length === 1 ? '' : `, and ${counted(lacking.length - 1, 'more device')}`;
  const force = lacking.every(({ mayDo }) => mayDo) ? '; or add --overfill REASON' : '';
  throw new CodedError('DISK_TOO_SMALL', `${first.message}${more}`, {
    hint: `${first.remedy}${force}`,
    details: { ring, devices: lacking.map(({ device }) => device) },
  });
}
