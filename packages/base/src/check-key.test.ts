import { expect, test } from 'vitest';
import { checkKey } from './check-key.ts';
import { keyBytesMax } from './limits.ts';

test('keys of one byte up to the limit pass', () => {
  for (const bytes of [1, keyBytesMax]) expect(() => checkKey(Buffer.alloc(bytes))).not.toThrow();
});

test.each([
  [0, /name a key/],
  [keyBytesMax + 1, /shorter/],
])('a key of %d bytes is refused, with its length, the limit and what to do', (bytes, hint) => {
  expect(() => checkKey(Buffer.alloc(bytes), 'items.3: ')).toThrow(
    expect.objectContaining({
      code: 'KEY_INVALID',
      message: `items.3: a key of ${bytes} bytes, allowed are 1 to ${keyBytesMax}`,
      hint: expect.stringMatching(hint),
      details: { bytes, max: keyBytesMax },
    }),
  );
});
