// Keys in URLs: any bytes survive, any bad escape is refused with its place.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax } from '@ringwright/base/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfPath } from './key-request.ts';

const escaped = (byte: number, upper: boolean): string => {
  const digits = byte.toString(16).padStart(2, '0');
  return `%${upper ? digits.toUpperCase() : digits}`;
};
/** Characters that may stand as they are. */
const plain = /^[A-Za-z0-9._~/!$&'()*+,;=:@-]$/;

function refusal(part: string): string {
  try {
    return `read as ${Buffer.from(keyOfPath(part)).toString('hex')}`;
  } catch (error) {
    return error instanceof CodedError ? error.code : `no CodedError: ${String(error)}`;
  }
}

describe('round trip', () => {
  test('any bytes, each escaped or not, in either case', () => {
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

  test('what encodeURIComponent makes of any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (text) => {
        const read = keyOfPath(encodeURIComponent(text));
        expect(Buffer.from(read).toString('utf8')).toBe(text);
      }),
    );
  });

  test('a slash, a plus and an escaped percent stay what they are', () => {
    expect(Buffer.from(keyOfPath('a/b+c%2525')).toString()).toBe('a/b+c%25');
  });
});

describe('refusals', () => {
  test.each(['%', '%1', '%zz', 'a%', 'a%g0', '%%41', '%-1', '% 1', '%0x'])('%s', (part) => {
    expect(refusal(part)).toBe('KEY_INVALID');
  });

  test('no key, the longest key, and one byte more', () => {
    expect(refusal('')).toBe('KEY_INVALID');
    expect(keyOfPath('%00'.repeat(keyBytesMax))).toHaveLength(keyBytesMax);
    expect(refusal('%00'.repeat(keyBytesMax + 1))).toBe('KEY_INVALID');
  });

  test('random text is read or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(refusal(text)).toMatch(/^(read as [0-9a-f]+|KEY_INVALID)$/);
      }),
    );
  });
});
