import { expect, test } from 'vitest';
import { rolloutLine } from './rollout-line.ts';

const progress = { event: 'progress', ring: 'cities', version: 4, finished: 0 };

test('a line counts the moves of each stage in order, and shows the copied bytes', () => {
  const stages = ['available', 'copying', 'queued', 'paused', 'copying'];
  const moves = stages.map((stage) => ({ stage, bytes: 50_000 }));
  const line = rolloutLine(JSON.stringify({ ...progress, doing: 'joiners copy', moves }));
  const counts = '1 queued, 2 copying, 1 available, 1 paused';
  expect(line).toBe(`version 4: joiners copy; ${counts}; 0.3 MB copied`);
});

test('the bytes of a split are shown as filled, not as copied', () => {
  const doing = 'new files are filled from those of their parents';
  const moves = [{ stage: 'copying', bytes: 400_000 }];
  expect(rolloutLine(JSON.stringify({ ...progress, doing, moves }))).toBe(
    `version 4: ${doing}; 1 copying; 0.4 MB filled`,
  );
});

test('a line without moves in flight shows the number of finished ones', () => {
  const end = { ...progress, finished: 24, doing: 'old holders drop their files', moves: [] };
  expect(rolloutLine(JSON.stringify(end))).toBe(
    'version 4: old holders drop their files; 24 finished',
  );
});

test('a note is shown as its sentence', () => {
  const text = 'cities version 3: every server knows of 24 moves';
  expect(rolloutLine(JSON.stringify({ event: 'note', text }))).toBe(text);
});

test.each(['cities version 3: every server knows of 24 moves', '{"code":"LOCK_HELD"}', ''])(
  'a line that is not an event gives null: %s',
  (line) => expect(rolloutLine(line)).toBeNull(),
);
