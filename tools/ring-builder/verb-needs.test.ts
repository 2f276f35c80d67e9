import { verbNeeds } from '@ringwright/access/verb-needs';
import { expect, test } from 'vitest';
import { verbs } from './verbs.ts';

test('every command says what it needs of servers, in the order of the table', () => {
  const names = verbs.map(({ usage }) => usage.split(' ', 1)[0]);
  expect(Object.keys(verbNeeds)).toEqual(names);
});
