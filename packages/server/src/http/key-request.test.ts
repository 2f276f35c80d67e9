// Tests keys in URLs: any bytes are read back, and any bad escape is refused.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax } from '@ringwright/base/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfPath } from './key-request.ts';

const escaped = (byte: number, upper: boolean): string => {
  const digits = byte.toString(16).padStart(2, '0');
  return `%${upper ? digits.toUpperCase() : digits}`;
};
/** Characters that need no escape. */
const plain = /^[A-Za-z0-9._~/!$&'()*+,;=:@-]$/;

function refusal(part: string): string {
  try {
    return `read as ${Buffer.from(keyOfPath(part)).toString('hex')}`;
  } catch (error) {
    return error instanceof CodedError ? error.code : `no CodedError: ${String(error)}`;
  }
}

describe('keys are read back', () => {
  test('any bytes are read back, escaped or not, in either case', () => {
    const key = fc.array(fc.tuple(fc.nat(255), fc.boolean(), fc.boolean()), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(key, (bytes) => {
        const part = bytes.map(([byte, escape, upper]) => {
          const text = String.fromCharCode(byte);
          return escape || !plain.test(text) ? escaped(byte, upper) : text;
        });
        expect([...keyOfPath(part.join(''))]).toEqual(bytes.map(([byte]) => byte));
      }),
    );
  });

  test('text escaped by encodeURIComponent is read back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (text) => {
        const read = keyOfPath(encodeURIComponent(text));
        expect(Buffer.from(read).toString('utf8')).toBe(text);
      }),
    );
  });

  test('a slash, a plus and an escaped percent are kept', () => {
    expect(Buffer.from(keyOfPath('a/b+c%2525')).toString()).toBe('a/b+c%25');
  });
});

describe('invalid keys are refused', () => {
  test.each(['%', '%1', '%zz', 'a%', 'a%g0', '%%41', '%-1', '% 1', '%0x'])('%s is bad', (part) => {
    expect(refusal(part)).toBe('KEY_INVALID');
  });

  test('an empty key is refused, and one above the maximum length', () => {
    expect(refusal('')).toBe('KEY_INVALID');
    expect(keyOfPath('%00'.repeat(keyBytesMax))).toHaveLength(keyBytesMax);
    expect(refusal('%00'.repeat(keyBytesMax + 1))).toBe('KEY_INVALID');
  });

  test('random text is read or refused with KEY_INVALID', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(refusal(text)).toMatch(/^(read as [0-9a-f]+|KEY_INVALID)$/);
      }),
    );
  });
});
