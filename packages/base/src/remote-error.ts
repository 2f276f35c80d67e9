// Errors that crossed a process boundary: from a document back to a CodedError.
import { CodedError, type ErrorDocument } from './coded-error.ts';
import { type ErrorCode, errorCatalogue } from './errors.ts';
import { printable } from './printable.ts';
import { shortened } from './shortened.ts';

/**
 * Makes a CodedError from a received document, with its texts shortened and safe to print. An
 * unknown code (a newer peer's) becomes PEER_FAILED.
 */
export function errorFromDocument(value: unknown): CodedError {
  const document = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Partial<ErrorDocument>;
  const text = (field: unknown): string =>
    typeof field === 'string' ? printable(shortened(field)) : '';
  const known = Object.hasOwn(errorCatalogue, text(document.code));
  return new CodedError(
    known ? (document.code as ErrorCode) : 'PEER_FAILED',
    known ? text(document.message) : shortened(`${text(document.code)}: ${text(document.message)}`),
    {
      hint: text(document.hint),
      details:
        typeof document.details === 'object' && document.details !== null ? document.details : {},
    },
  );
}
