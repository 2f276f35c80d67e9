// Whether the disks of the devices that get files have room for them, before a version says so.

import { CodedError } from '@ringwright/base/coded-error';
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { allMoves } from '@ringwright/builder/later-waves';
import { planTraffic } from '@ringwright/builder/plan-traffic';
import { sizesFor } from './known-sizes.ts';
import type { PreparedPlan } from './prepare-plan.ts';
import { printBytes } from './print-bytes.ts';

/**
 * The devices that lack room, which a commit with a reason takes on. Throws DISK_TOO_SMALL without
 * one. Servers that do not answer in time have room, as far as anybody knows.
 */
export async function requireRoom(
  prepared: PreparedPlan,
  reason: string | null,
): Promise<readonly number[]> {
  const { plan } = prepared;
  const { ring } = plan;
  const sizes = await sizesFor(prepared);
  const devices = (sizes === null ? null : planTraffic(allMoves(plan), sizes))?.devices ?? [];
  const lacking = devices.filter(({ fits }) => fits === false);
  const [first] = lacking;
  if (first === undefined || reason !== null) return lacking.map(({ id }) => id);
  const { id, bytesIn, freeBytes } = first;
  const more = lacking.length === 1 ? '' : `, and ${lacking.length - 1} more devices`;
  throw new CodedError(
    'DISK_TOO_SMALL',
    `d${id} would get ${printBytes(bytesIn)}, and its disk has ` +
      `${printBytes(freeBytes ?? 0)} free, of which ${printBytes(diskReserveBytes)} stay free${more}`,
    {
      hint: `ring-builder plan ${ring} shows all; free the disk, or give d${id} a lower weight (set-weight); or add --overfill REASON`,
      details: { ring, devices: lacking },
    },
  );
}
