import { expect, test } from 'vitest';
import { findSecureProblems, type SecureFigures } from './secure-figures.ts';

const good: SecureFigures = {
  records: 200,
  lost: 0,
  wrongReads: 0,
  servers: 3,
  refused: {
    plainText: 'closed',
    noToken: 'TOKEN_MISSING',
    wrongSecret: 'TOKEN_REFUSED',
    otherRole: 'PERMISSION_MISSING',
  },
  certificates: { before: ['AA'], after: ['BB'] },
  revokedOn: 3,
  live: { writes: 900, reads: 2_000, failed: 0 },
  longestPauseMs: { writer: 80, reader: 60 },
  seconds: 12,
};

test('good figures have no problems', () => {
  expect(findSecureProblems(good)).toEqual([]);
});

const bad: readonly (readonly [Partial<SecureFigures>, RegExp])[] = [
  [{ records: 0 }, /no record/],
  [{ lost: 1 }, /1 of 200/],
  [{ wrongReads: 2 }, /2 reads/],
  [{ refused: { ...good.refused, noToken: '200' } }, /noToken: answered 200, not TOKEN_MISSING/],
  [{ certificates: { before: ['AA'], after: ['AA'] } }, /not replaced/],
  [{ certificates: { before: ['AA'], after: ['BB', 'CC'] } }, /different certificates/],
  [{ revokedOn: 2 }, /2 of 3/],
  [{ live: { ...good.live, failed: 1 } }, /1 requests failed/],
  [{ live: { ...good.live, writes: 0 } }, /did nothing/],
];

test.each(bad)('exactly one problem is found for %j', (wrong, sentence) => {
  const problems = findSecureProblems({ ...good, ...wrong });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(sentence);
});
