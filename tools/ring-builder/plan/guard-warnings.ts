// What a plan says of the operator's guard: a commit needs two signatures, or a reason. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { ChangeGuard } from '@ringwright/repository/judge-version';

export function guardWarnings(guard: ChangeGuard | null): Finding[] {
  if (guard === null) return [];
  const { large, size, override, secondSignature } = guard;
  const message = `a large change, ${large}; ${whatItNeeds(guard)}`;
  return [{ code: 'BRAKE', message, details: { ...size, override, secondSignature } }];
}

function whatItNeeds({ override, secondSignature }: ChangeGuard): string {
  const reason = 'a commit needs --override REASON, which is logged';
  if (!secondSignature) return override ? reason : 'the root of trust lets nobody commit it';
  const second = 'a commit waits for a second signature (ring-builder sign)';
  return override ? `${second}, or needs --override REASON, which is logged` : second;
}
