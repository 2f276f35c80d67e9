// Tests the version at which two lines of a ring fork, judged from both sides.
import { expect, test } from 'vitest';
import { forkPointOf } from './fork-point.ts';

type Ids = [string, string, string, string, string];
const [a, b, c, d, e] = 'abcde'.split('').map((letter) => letter.repeat(64)) as Ids;

test.each([
  ['the same ring', { version: 7, id: a }, { version: 7, id: a }, null],
  ['one version, two ids', { version: 7, id: a }, { version: 7, id: b }, 7],
  ['its child', { version: 7, id: a }, { version: 8, id: c, parent: a }, null],
  ['the child of another', { version: 7, id: a }, { version: 8, id: c, parent: b }, 7],
  ['a child that names no parent', { version: 7, id: a }, { version: 8, id: c }, null],
  ['far above, of an unknown line', { version: 7, id: a }, { version: 9, id: c, parent: b }, null],
  [
    'far above, of this line',
    { version: 7, id: a },
    { version: 10, id: c, parent: b, ancestors: [d, a] },
    null,
  ],
  [
    'far above, of another line',
    { version: 7, id: a },
    { version: 10, id: c, parent: b, ancestors: [d, e] },
    7,
  ],
  [
    'further on than it names ancestors',
    { version: 6, id: a },
    { version: 9, id: c, ancestors: [d] },
    null,
  ],
])('both sides find the same fork, or none: %s', (...[, mine, theirs, version]) => {
  const found = forkPointOf(mine, theirs);
  expect(found?.version ?? null).toBe(version);
  expect(forkPointOf(theirs, mine)).toEqual(
    found === null ? null : { ...found, id: found.other, other: found.id },
  );
});
