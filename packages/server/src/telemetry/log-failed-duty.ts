// How loudly it is said that a duty of a ring was not done and will be tried again.
import { CodedError } from '@ringwright/base/coded-error';
import type { Logger } from 'pino';

/**
 * While a ring goes from server to server, many a duty can be done with the next one only: that is
 * how each change goes, and no trouble. What stays like that, moves and health tell.
 */
export function logFailedDuty(
  log: Pick<Logger, 'debug' | 'warn'>,
  step: { readonly kind: string; readonly keyspace: string },
  error: unknown,
): void {
  const isWaiting = error instanceof CodedError && error.retry === 'after-ring';
  log[isWaiting ? 'debug' : 'warn']({ ...step, error }, 'duty failed, will be tried again');
}
