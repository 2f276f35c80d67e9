// What has to hold before a version is committed: the plan that was reviewed, a sound ring. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Plan } from '@ringwright/builder/plan';
import type { Head } from '@ringwright/repository/read-log';
import { auditRing } from '@ringwright/ring/audit-ring';
import type { Ring } from '@ringwright/ring/ring';
import { usage } from './arguments.ts';

/** Enough of a digest to type; `--plan` takes any start of this length or more. */
export const digestCharactersMin = 12;

/** Throws PLAN_STALE with both digests, USAGE for what is no digest. */
export function requireDigest(plan: Plan, given: string | undefined, head: Head | null): void {
  if (given === undefined) return;
  if (!/^[0-9a-f]+$/.test(given) || given.length < digestCharactersMin) {
    throw usage(`--plan ${given} is no digest: ${digestCharactersMin} to 64 of 0-9 and a-f`);
  }
  if (plan.digest.startsWith(given)) return;
  throw new CodedError(
    'PLAN_STALE',
    `the plan is now ${plan.digest}, not ${given}: head or staged changes of ${plan.ring} moved`,
    {
      hint: `ring-builder plan ${plan.ring}; ring-builder log ${plan.ring} shows what happened`,
      details: { ring: plan.ring, given, found: plan.digest, head },
    },
  );
}

/** Throws RING_AUDIT_FAILED. */
export function requireSound(ring: Ring): void {
  const findings = auditRing(ring);
  const first = findings[0];
  if (first === undefined) return;
  throw new CodedError('RING_AUDIT_FAILED', `${findings.length} findings: ${first.message}`, {
    hint: 'nothing was committed; this is a bug of the builder, please report it',
    details: { findings },
  });
}
