// The refusals of a ring file: what was found, what was expected. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/** Returns RING_FILE_INVALID: `what` names the place, `found` and `wanted` are both values. */
export function fileInvalid(what: string, found: unknown, wanted: unknown): CodedError {
  return new CodedError(
    'RING_FILE_INVALID',
    `ring file: ${what} is ${String(found)}, expected ${String(wanted)}`,
    {
      hint: 'the file is damaged, truncated or not a ring file: fetch it again from a server or a backup',
      details: { what, found, wanted },
    },
  );
}

/** Returns RING_TOO_LARGE. */
export function tooLarge(what: string, bytes: number, max: number): CodedError {
  return new CodedError('RING_TOO_LARGE', `ring ${what} of ${bytes} bytes, at most ${max}`, {
    hint: 'use fewer partitions, replicas or devices for a smaller file',
    details: { what, bytes, max },
  });
}
