// A refused request, as the audit log and the log of the server name it. Pure.
import type { CodedError } from '@ringwright/base/coded-error';

export interface Refusal {
  /** Address and port of the caller. */
  readonly from: string;
  /** Id of the token that was shown, whether valid or not; null: none. */
  readonly token: string | null;
  readonly code: CodedError['code'];
  /** The missing permission, as needText prints it. */
  readonly needs: string;
}

/** Codes of refusals whose caller has shown a valid token, certificate or device key. */
const authenticated: ReadonlySet<CodedError['code']> = new Set([
  'PERMISSION_MISSING',
  'OPERATOR_ELSEWHERE',
]);

/**
 * Returns the key under which repetitions are counted instead of logged. It contains nothing that a
 * caller can make up: with a new token id, or a new keyspace, in each request a caller would fill
 * the audit log, and older lines would be removed.
 */
export function repetitionKey({ from, token, code, needs }: Refusal): string {
  const address = from.replace(/:\d+$/, '');
  const callerKey = authenticated.has(code) ? `${token} ${needs.split(' ', 1)[0]}` : 'unknown';
  return `${address} ${code} ${callerKey}`;
}
