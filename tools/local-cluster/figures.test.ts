import { expect, test } from 'vitest';
import { type Figures, findProblems } from './figures.ts';
import { changeRows, figuresPage } from './page.ts';

const good: Figures = {
  records: 171_075,
  duplicates: 0,
  lost: 0,
  wrongReads: 0,
  moved: 109,
  moveLowerBound: 109,
  copiesVerified: true,
  copied: { partitions: 109, bytes: 31_000_000, mbPerSecond: 40.5 },
  split: { filled: 6, wanted: 6, seconds: 1.2 },
  loadedPerSecond: 5_000,
  comparedPerSecond: 6_000,
  live: { writes: 9_000, reads: 20_000, retries: 2, writesAfterKill: 1_000, readsAfterKill: 2_000 },
  longestPauseMs: { writer: 80, reader: 60 },
  ringVersion: 4,
  rolloutSeconds: 6.1,
  seconds: 70,
};

test('good figures have no problems', () => {
  expect(findProblems(good)).toEqual([]);
});

const spoiled: readonly (readonly [Partial<Figures>, RegExp])[] = [
  [{ records: 0 }, /no record/],
  [{ lost: 1 }, /1 of 171075 records were lost/],
  [{ wrongReads: 3 }, /3 reads/],
  [
    { moved: 110, copied: { ...good.copied, partitions: 110 } },
    /110 slots moved, although 109 are enough/,
  ],
  [{ copiesVerified: false }, /verified/],
  [
    { copied: { ...good.copied, partitions: 108 } },
    /108 partition files were copied for 109 moves/,
  ],
  [{ split: { ...good.split, filled: 4 } }, /4 of 6 files/],
  [{ live: { ...good.live, writesAfterKill: 0 } }, /no write/],
  [{ live: { ...good.live, readsAfterKill: 0 } }, /no read/],
];

for (const [part, sentence] of spoiled) {
  test(`exactly one problem is found for ${JSON.stringify(part)}`, () => {
    const problems = findProblems({ ...good, ...part });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(sentence);
  });
}

test('the page shows the most important figures, and whether all are in order', () => {
  const page = figuresPage(changeRows(good), []).join('\n');
  expect(page).toContain('171,075 loaded, 5,000 a second');
  expect(page).toContain('109 partition copies; no ring needs fewer than 109');
  expect(page).toContain('31.0 MB, 40.5 MB/s, all verified');
  expect(page).toContain('Every figure is in order.');
  expect(figuresPage(changeRows(good), ['2 reads returned wrong values']).join('\n')).toContain(
    'NOT in order',
  );
});
