import { expect, test } from 'vitest';
import { printable, printableLines } from './printable.ts';

test.each([
  ['\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
  ['a\rb\tc\nd\0', 'a\\u000db\\u0009c\\u000ad\\u0000'],
  ['\u007f\u0080\u009b2J\u009f', '\\u007f\\u0080\\u009b2J\\u009f'],
  ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['user\u202egnp.exe\u202c \u2066x\u2069', 'user\\u202egnp.exe\\u202c \\u2066x\\u2069'],
  ['ada\u200b\ufeff\u00ad', 'ada\\u200b\\ufeff\\u00ad'],
  ['\u{e0041}', '\\udb40\\udc41'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printable(shown)).toBe(shown);
});

test('every control character is escaped, and what people write is unchanged', () => {
  for (let code = 0; code < 0xa0; code += 1) {
    const isControl = code < 0x20 || code >= 0x7f;
    expect(printable(String.fromCharCode(code)).length, `U+${code}`).toBe(isControl ? 6 : 1);
  }
  const written = 'Zürich — 東京 नमस्ते سلام 👩‍🚀 é █░ … ∞ می‌خواهم';
  expect(printable(written)).toBe(written);
});

test('a JSON document keeps its meaning, and a text keeps its lines', () => {
  const value = { name: 'a\u007f\u009b\u2028\u202e\u001b\n"\\', tag: '\u{e0041}👩‍🚀' };
  const shown = printable(JSON.stringify(value));
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).toMatch(/^[^\u007f\u009b\u2028\u202e]*$/);
  expect(printableLines('a\n\u001b\nb\n')).toBe('a\n\\u001b\nb\n');
});
