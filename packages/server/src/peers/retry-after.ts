// When a device that was busy wants to be asked again, as its refusal says. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/** ms, at least 1; `usualMs` where the refusal says nothing, or nothing that is a time. */
export function retryAfterMs(refusal: unknown, usualMs: number): number {
  const ms = refusal instanceof CodedError ? refusal.details.retryAfterMs : null;
  return typeof ms === 'number' && ms >= 1 ? ms : usualMs;
}
