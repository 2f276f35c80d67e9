// Collects the findings of an audit, a bounded number per check. Pure.
import type { Finding } from '@ringwright/base/finding';
import { findingsPerKindMax } from '@ringwright/base/limits';

/** One invariant: a stable code, and its violations as sentences with both values. */
export interface Check<Subject> {
  readonly code: string;
  readonly broken: (subject: Subject) => Iterable<Broken>;
}

/** A sentence, alone or with its values for programs. */
export type Broken = string | Pick<Finding, 'message' | 'details'>;

/** Returns the findings of all checks in order. A check stops at its maximum number of findings. */
export function findingsOf<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Finding[] {
  const findings: Finding[] = [];
  for (const { code, broken } of checks) {
    let count = 0;
    for (const found of broken(subject)) {
      count += 1;
      const last = count === findingsPerKindMax;
      const { message, ...more } = typeof found === 'string' ? { message: found } : found;
      const text = last ? `${message} (more of this kind are not listed)` : message;
      findings.push({ code, message: text, ...more });
      if (last) break;
    }
  }
  return findings;
}
