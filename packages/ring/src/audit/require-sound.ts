// A ring that breaks an invariant, refused by whoever made or read it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Ring } from '../ring.ts';
import { auditRing } from './audit-ring.ts';

/** Throws RING_AUDIT_FAILED with all findings, and what the caller knows besides. */
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
