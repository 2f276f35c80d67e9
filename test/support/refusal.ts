// What work refuses: its CodedError, or only the code. Any other error fails the test.
import { CodedError } from '@ringwright/base/coded-error';

/** Work that does not throw fails the test, too. */
export function refusal(work: () => unknown): CodedError {
  try {
    work();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

export function codeIn(error: unknown): string {
  if (error instanceof CodedError) return error.code;
  throw error;
}

/** Returns the result of the work, or the code of its refusal. */
export function resultOrCode<Result>(work: () => Result): Result | string {
  try {
    return work();
  } catch (error) {
    return codeIn(error);
  }
}
