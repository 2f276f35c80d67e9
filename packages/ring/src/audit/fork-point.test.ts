// Where two lines of a ring part, seen from both sides.
import { expect, test } from 'vitest';
import { forkPointOf } from './judge-ring.ts';

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];

test.each([
  ['the same ring', { version: 7, id: a }, { version: 7, id: a }, null],
  ['one version, two ids', { version: 7, id: a }, { version: 7, id: b }, 7],
  ['its child', { version: 7, id: a }, { version: 8, id: c, parent: a }, null],
  ['the child of another', { version: 7, id: a }, { version: 8, id: c, parent: b }, 7],
  ['a child that names no parent', { version: 7, id: a }, { version: 8, id: c }, null],
  ['far above: nobody can tell', { version: 7, id: a }, { version: 9, id: c, parent: b }, null],
])('%s', (...[, mine, theirs, version]) => {
  const found = forkPointOf(mine, theirs);
  expect(found?.version ?? null).toBe(version);
  expect(forkPointOf(theirs, mine)).toEqual(
    found === null ? null : { ...found, id: found.other, other: found.id },
  );
});
