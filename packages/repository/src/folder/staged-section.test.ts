// Tests the section of the staged changes, also in a file that another program made.
import { expect, test } from 'vitest';
import { stagedChangesOf, stagedSections } from './staged-section.ts';

test('changes are read back, and a section that lists none counts as absent', () => {
  const changes = [{ kind: 'remove', id: 3 }] as const;
  const [section] = stagedSections(changes);
  expect(stagedChangesOf(section === undefined ? [] : [section])).toEqual(changes);
  expect(stagedChangesOf([])).toBeNull();
  for (const text of ['', 'no JSON', '{}', '[{"kind":"x"}]']) {
    expect(stagedChangesOf([{ name: 'staged', bytes: Buffer.from(text) }])).toBeNull();
  }
});
