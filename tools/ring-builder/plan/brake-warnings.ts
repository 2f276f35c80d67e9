// What a plan says of the operator's brake: a commit needs two signatures, or a reason. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { Brake } from '@ringwright/repository/judge-version';

export function brakeWarnings(brake: Brake | null): Finding[] {
  if (brake === null) return [];
  const { large, size, override, secondSignature } = brake;
  const message = `a large change, ${large}; ${whatItNeeds(brake)}`;
  return [{ code: 'BRAKE', message, details: { ...size, override, secondSignature } }];
}

function whatItNeeds({ override, secondSignature }: Brake): string {
  const reason = 'a commit needs --override REASON, which is logged';
  if (!secondSignature) return override ? reason : 'the root of trust lets nobody commit it';
  const second = 'a commit waits for a second signature (ring-builder sign)';
  return override ? `${second}, or needs --override REASON, which is logged` : second;
}
