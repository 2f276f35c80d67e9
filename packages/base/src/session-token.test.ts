// Session tokens: their text, invalid texts, and what a session has seen.
import { expect, test } from 'vitest';
import { advanceSession, formatSessionToken, parseSessionToken } from './session-token.ts';
import { makeStamp, stampMsMax, stampTieMax } from './stamp.ts';

const early = makeStamp(1_000, 0, 1);
const late = makeStamp(1_000, 1, 0);

test.each([
  { ...early, weak: false },
  { ...late, weak: true },
  { ms: stampMsMax, tie: stampTieMax, weak: true },
])('%o survives a round trip', (token) => {
  expect(parseSessionToken(formatSessionToken(token))).toEqual(token);
});

test.each(['', '.one', '1.2', '1.2.3.quorum', '1.2.3.one.one', '-1.2.3', '1e3.0.0', '1.65536.0'])(
  '%j is not a token',
  (text) => {
    const refusal = expect.objectContaining({ code: 'SESSION_INVALID' });
    expect(() => parseSessionToken(text)).toThrow(refusal);
  },
);

test('a session keeps its highest stamp, and stays weak once it is', () => {
  expect(advanceSession(null, null, 'one')).toBeNull();
  const first = advanceSession(null, late, 'quorum');
  expect(first).toEqual({ ...late, weak: false });
  const second = advanceSession(first, early, 'one');
  expect(second).toEqual({ ...late, weak: true });
  expect(advanceSession(second, makeStamp(1_001, 0, 0), 'all')).toEqual({
    ...makeStamp(1_001, 0, 0),
    weak: true,
  });
  expect(advanceSession(second, null, 'quorum')).toBe(second);
});
