// How the local cluster says that something did not happen: one code, a sentence, a hint.
import { CodedError } from '@ringwright/base/coded-error';

export function failure(message: string, hint = '', cause?: unknown): CodedError {
  return new CodedError('LOCAL_CLUSTER_FAILED', message, { hint, cause });
}
