// Names with letters beyond ASCII: typed as people read them, sent in punycode, or as plain UTF-8.
import { expect, test } from 'vitest';
import { allowedHosts } from './check-request.ts';

/** As Node gives a header of these bytes. */
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

test.each(['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.example'])(
  'a server called %s answers to all spellings of it',
  (name) => {
    const allows = allowedHosts([name]);
    const spellings = ['xn--bcher-kva.example', 'XN--BCHER-KVA.example.:6200', 'bücher.example'];
    for (const host of spellings) expect(allows(utf8(host)), host).toBe(true);
    expect(allows(utf8('bücher.example:6200'))).toBe(true);
    for (const host of ['bucher.example', 'x.bücher.example', 'xn--bcher-kva.evil.example', '']) {
      expect(allows(utf8(host)), host).toBe(false);
    }
  },
);

test('a domain of such letters stands for all that is below it', () => {
  const allows = allowedHosts(['.bücher.example']);
  expect(['xn--bcher-kva.example', 'sd1.xn--bcher-kva.example'].map(allows)).toEqual([true, true]);
  expect(allows('evil-xn--bcher-kva.example')).toBe(false);
});

test('what is no name in punycode allows nothing', () => {
  const allows = allowedHosts(['xn--\u00ff\u0000 \u00fc', '\u00a0 \u2028']);
  for (const host of ['', '.', utf8('ü ü')]) expect(allows(host)).toBe(false);
});
