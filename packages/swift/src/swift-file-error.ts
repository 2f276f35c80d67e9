// The refusals of Swift's files: what was found, what was expected. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { firstComplaint } from '@ringwright/ring/device-fields';
import type { z } from 'zod';

const SHOWN_MAX = 200;
const damaged =
  'the file is damaged, truncated or not from Swift: get it again from a server or a backup';

/** Returns SWIFT_FILE_INVALID: `what` names the place, `found` and `wanted` are both values. */
export function swiftInvalid(what: string, found: unknown, wanted: unknown): CodedError {
  const [is, expected] = [briefly(String(found)), String(wanted)];
  return new CodedError('SWIFT_FILE_INVALID', `${what} is ${is}, expected ${expected}`, {
    hint: damaged,
    details: { what, found: is, wanted: expected },
  });
}

/** Returns SWIFT_FILE_INVALID for a part that cannot be read at all. */
export function swiftBroken(what: string, complaint: string): CodedError {
  return new CodedError('SWIFT_FILE_INVALID', `${what} ${briefly(complaint)}`, {
    hint: damaged,
    details: { what, complaint: briefly(complaint) },
  });
}

/** Returns SWIFT_FILE_INVALID for JSON that a schema refuses. With reportInput it has the value. */
export function swiftMisshapen(what: string, error: z.ZodError): CodedError {
  return swiftBroken(what, `is wrong: ${fieldComplaint(error)}`);
}

/** Returns a sentence: `zone is missing`, `part_shift 33: expected at most 32`. */
export function fieldComplaint(error: z.ZodError): string {
  return firstComplaint(error)
    .replace(/^value:? /, '')
    .replace(': is missing', ' is missing');
}

/** Returns SWIFT_FILE_INVALID for an intact file with a value that no ring here can have. */
export function swiftUnfit(what: string, complaint: string): CodedError {
  return new CodedError('SWIFT_FILE_INVALID', `${what}: ${briefly(complaint)}`, {
    hint: 'the file is complete, but this cannot be imported: change it in Swift and import again',
    details: { what, complaint: briefly(complaint) },
  });
}

/** Shortens a value of the file for a message. */
function briefly(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

export function swiftTooLarge(what: string, found: number, max: number): CodedError {
  return new CodedError('SWIFT_FILE_TOO_LARGE', `${what}: ${found}, at most ${max}`, {
    details: { what, found, max },
  });
}

/** Returns PICKLE_REFUSED. A pickle is a program, so only the opcodes of Swift's files run. */
export function pickleRefused(what: string, at: number): CodedError {
  return new CodedError('PICKLE_REFUSED', `pickle: ${what} at byte ${at}`, {
    hint: 'no builder or ring file of Swift needs this; do not open the file with other programs either',
    details: { what, at },
  });
}
