// The refusals of files that come from Swift: what was found, what was expected. Pure.
import { CodedError } from '@ringwright/base/coded-error';

const SHOWN_MAX = 200;

/** SWIFT_FILE_INVALID: `what` names the place, `found` and `wanted` both values. */
export function swiftInvalid(what: string, found: unknown, wanted: unknown): CodedError {
  const [is, expected] = [briefly(String(found)), String(wanted)];
  return new CodedError(
    'SWIFT_FILE_INVALID',
    `Swift file: ${what} is ${is}, expected ${expected}`,
    {
      hint: 'damaged, cut short or not from Swift: take the file from a server or a backup again',
      details: { what, found: is, wanted: expected },
    },
  );
}

/** SWIFT_FILE_INVALID of a whole file: it holds a value that Swift takes, but no ring here can. */
export function swiftUnfit(what: string, complaint: string): CodedError {
  return new CodedError('SWIFT_FILE_INVALID', `Swift file: ${what}: ${briefly(complaint)}`, {
    hint: 'the file is whole, but this cannot be taken over: change it in Swift, import again',
    details: { what, complaint: briefly(complaint) },
  });
}

/** A value of the file, as much of it as a message can use. */
function briefly(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

export function swiftTooLarge(what: string, found: number, max: number): CodedError {
  return new CodedError('SWIFT_FILE_TOO_LARGE', `Swift file: ${what} ${found}, at most ${max}`, {
    details: { what, found, max },
  });
}

/** PICKLE_REFUSED: a pickle is a program; only the few steps that Swift's files need are taken. */
export function pickleRefused(what: string, at: number): CodedError {
  return new CodedError('PICKLE_REFUSED', `pickle: ${what} at byte ${at}`, {
    hint: 'no builder or ring of Swift needs this; do not open the file with anything else either',
    details: { what, at },
  });
}
