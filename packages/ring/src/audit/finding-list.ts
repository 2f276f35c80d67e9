// Collects the findings of an audit, a bounded number per check. Pure.
import type { Finding } from '@ringwright/base/finding';
import { findingsPerKindMax } from '@ringwright/base/limits';

/** One invariant: a stable code, and its violations as sentences with both values. */
export interface Check<Subject> {
  readonly code: string;
  readonly broken: (subject: Subject) => Iterable<Broken>;
}

export interface Broken {
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Returns the findings of all checks in order. A check stops at its maximum number of findings. */
export function findingsOf<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Finding[] {
  const findings: Finding[] = [];
  for (const { code, broken } of checks) {
    let count = 0;
    for (const { message, details } of broken(subject)) {
      count += 1;
      const last = count === findingsPerKindMax;
      const text = last ? `${message} (more of this kind are not listed)` : message;
      findings.push(
        details === undefined ? { code, message: text } : { code, message: text, details },
      );
      if (last) break;
    }
  }
  return findings;
}
