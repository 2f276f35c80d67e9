// The error of the local cluster when an expected event did not happen.
import { CodedError } from '@ringwright/base/coded-error';

export function failure(message: string, hint = '', cause?: unknown): CodedError {
  return new CodedError('LOCAL_CLUSTER_FAILED', message, { hint, cause });
}
