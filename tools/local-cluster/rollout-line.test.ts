import { expect, test } from 'vitest';
import { rolloutLine } from './rollout-line.ts';

const progress = { event: 'progress', ring: 'cities', version: 4, finished: 0 };

test('stages are counted in their order, with what was copied', () => {
  const stages = ['available', 'copying', 'queued', 'paused', 'copying'];
  const moves = stages.map((stage) => ({ stage, bytes: 50_000 }));
  const line = rolloutLine(JSON.stringify({ ...progress, doing: 'joiners copy', moves }));
  const counts = '1 queued, 2 copying, 1 available, 1 paused';
  expect(line).toBe(`version 4: joiners copy; ${counts}; 0.3 MB copied`);
});

test('what a split fills is not copied', () => {
  const doing = 'new files are filled from those of their parents';
  const moves = [{ stage: 'copying', bytes: 400_000 }];
  expect(rolloutLine(JSON.stringify({ ...progress, doing, moves }))).toBe(
    `version 4: ${doing}; 1 copying; 0.4 MB filled`,
  );
});

test('without moves in flight there are those that have ended', () => {
  const end = { ...progress, finished: 24, doing: 'old holders drop their files', moves: [] };
  expect(rolloutLine(JSON.stringify(end))).toBe(
    'version 4: old holders drop their files; 24 finished',
  );
});

test('a note is its sentence', () => {
  const text = 'cities version 3: every server knows of 24 moves';
  expect(rolloutLine(JSON.stringify({ event: 'note', text }))).toBe(text);
});

test.each(['cities version 3: every server knows of 24 moves', '{"code":"LOCK_HELD"}', ''])(
  'what is no event is left alone: %s',
  (line) => expect(rolloutLine(line)).toBeNull(),
);
