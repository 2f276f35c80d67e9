// The error of every call on a client that has been closed.
import { CodedError } from '@ringwright/base/coded-error';

export function clientClosed(): CodedError {
  return new CodedError('CLIENT_CLOSED', 'this client has been closed');
}
