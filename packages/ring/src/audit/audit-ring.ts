// Every invariant of one ring: what `verify` prints, what servers ask of a pushed ring. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { Ring } from '../ring.ts';
import { deviceChecks } from './audit-devices.ts';
import { moveChecks } from './audit-moves.ts';
import { lengthChecks, settingChecks } from './audit-settings.ts';
import { tableChecks } from './audit-table.ts';
import { type Check, findingsOf } from './finding-list.ts';

/** Each stage trusts what the ones before it have found in order. */
const stages: readonly (readonly Check<Ring>[])[] = [
  settingChecks,
  [...lengthChecks, ...deviceChecks],
  [...tableChecks, ...moveChecks],
];

/** Codes an audit can give, in the order of the checks. */
export const auditCodes: readonly string[] = stages.flat().map(({ code }) => code);

/** What is wrong with a ring, empty when nothing is. Stops after the first stage with findings. */
export function auditRing(ring: Ring): Finding[] {
  for (const checks of stages) {
    const findings = findingsOf(checks, ring);
    if (findings.length > 0) return findings;
  }
  return [];
}
