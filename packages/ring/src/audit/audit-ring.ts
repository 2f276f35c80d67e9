// All invariants of one ring: `verify` prints them, and servers check a pushed ring with them.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import type { Ring } from '../ring.ts';
import { deviceChecks } from './audit-devices.ts';
import { moveChecks } from './audit-moves.ts';
import { lengthChecks, settingChecks } from './audit-settings.ts';
import { tableChecks } from './audit-table.ts';
import { type Check, findingsOf } from './finding-list.ts';

/** Each stage relies on the invariants that the stages before it have checked. */
const stages: readonly (readonly Check<Ring>[])[] = [
  settingChecks,
  [...lengthChecks, ...deviceChecks],
  [...tableChecks, ...moveChecks],
];

/** All codes of an audit, in the order of the checks. */
export const auditCodes: readonly string[] = stages.flat().map(({ code }) => code);

/** Returns the findings, empty for a sound ring. Stops after the first stage with findings. */
export function auditRing(ring: Ring): Finding[] {
  for (const checks of stages) {
    const findings = findingsOf(checks, ring);
    if (findings.length > 0) return findings;
  }
  return [];
}

/** Throws RING_AUDIT_FAILED with all findings, and with the caller's `known` details. */
export function requireSound(
  ring: Ring,
  hint: string,
  known: Readonly<Record<string, unknown>> = {},
): void {
  const findings = auditRing(ring);
  const [first] = findings;
  if (first === undefined) return;
  const message = `${counted(findings.length, 'finding')}: ${first.message}`;
  throw new CodedError('RING_AUDIT_FAILED', message, { hint, details: { ...known, findings } });
}
