// Masking keeps lines and columns, and is not misled by quotes in comments, templates and patterns.
import { expect, test } from 'vitest';
import { maskCode } from './mask-code.ts';

const cases: readonly (readonly [string, string, string])[] = [
  ['line comment', "a; // it's\nb;", 'a;        \nb;'],
  ['block comment', 'a /* "x\n */ b', 'a      \n    b'],
  ['string with an escaped quote', "f('a\\'b', c)", "f('    ', c)"],
  ['template with code inside', '`a${f("}")}b` + c', '` ${f(" ")} ` + c'],
  ['nested templates', '`${`x${y}`}z`;', '`${` ${y}`} `;'],
  ['template with braces inside its code', '`${{ a: 1 }.a}q`', '`${{ a: 1 }.a} `'],
  ['pattern with a quote and a slash in a class', "x = /['/]/.test(y)", 'x = /    /.test(y)'],
  ['division is no pattern', "a / b / 'c'", "a / b / ' '"],
  ['first line of a program', '#!/usr/bin/env node\na', '                   \na'],
];

for (const [name, text, masked] of cases) {
  test(`text and comments are masked: ${name}`, () => {
    expect(maskCode(text)).toBe(masked);
  });
}
