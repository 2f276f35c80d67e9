// Returns the CodedError that the work throws. Any other outcome fails the test.
import { CodedError } from '@ringwright/base/coded-error';

export function refusal(work: () => unknown): CodedError {
  try {
    work();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
