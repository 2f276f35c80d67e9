// What a write reports if servers refuse it, or take it and are not heard from again.
import { CodedError } from '@ringwright/base/coded-error';
import { clientAvoidMs } from '@ringwright/base/limits';
import { expect, test, vi } from 'vitest';
import { Client } from './client.ts';
import type { RingFollower } from './ring-follower.ts';

type Answer = 'none' | 'lost' | 'refused' | 'forbidden' | 'unmet' | 'superseded' | 'taken';

const failures = {
  lost: new CodedError('PEER_UNREACHABLE', 'the connection is closed'),
  refused: new CodedError('RING_UNKNOWN', 'no such ring here'),
  forbidden: new CodedError('TOKEN_REFUSED', 'revoked'),
  unmet: new CodedError('PRECONDITION_FAILED', 'there is a record'),
  superseded: new CodedError('SUPERSEDED', 'something newer is there'),
} as const;

/** Returns a client of servers with these answers, and the servers that were called. */
function clientOf(answers: readonly Answer[]) {
  const asked: Answer[] = [];
  const avoid = vi.fn();
  const openFirst = ([address]: Set<string>) => {
    const answer = answers[Number(address)] ?? 'refused';
    const call = (): Promise<unknown> => {
      asked.push(answer);
      if (answer === 'none') return new Promise(() => undefined);
      if (answer !== 'taken') return Promise.reject(failures[answer]);
      return Promise.resolve({ ms: 1, tie: 0, ringVersion: 1 });
    };
    return Promise.resolve({ address, channel: { call } });
  };
  const follower = {
    ring: { partitionOf: () => 0 },
    choose: () => [...answers.keys()].map(String),
    ...{
      openFirst,
      noteRingVersion: () => undefined,
      avoid,
      close: () => undefined,
    },
  } as unknown as RingFollower;
  const settings = { keyspace: 'notes', session: null, timeoutMs: 1, smearMs: 0 };
  return { asked, avoid, client: new Client(follower, { ...settings, consistency: 'quorum' }) };
}

const outcome = ({ client }: ReturnType<typeof clientOf>, repeatUnknown: boolean) =>
  client.put('key', 'value', { repeatUnknown }).then(
    () => 'stored',
    (error: CodedError) => `${error.code} ${error.outcome}`,
  );

test.each<[readonly Answer[], boolean, string, number]>([
  [['taken'], false, 'stored', 1],
  [['refused', 'taken'], false, 'stored', 2],
  [['refused', 'refused'], false, 'RING_UNKNOWN not-done', 2],
  [['lost', 'taken'], false, 'WRITE_UNKNOWN maybe-done', 1],
  [['lost', 'taken'], true, 'stored', 2],
  [['lost', 'lost', 'taken'], true, 'stored', 3],
  [['lost', 'refused'], true, 'WRITE_UNKNOWN maybe-done', 2],
  [['refused', 'lost'], true, 'WRITE_UNKNOWN maybe-done', 2],
  [['refused', 'lost', 'refused'], true, 'WRITE_UNKNOWN maybe-done', 3],
  [['forbidden', 'taken'], true, 'TOKEN_REFUSED not-done', 1],
  [['lost', 'forbidden', 'taken'], true, 'WRITE_UNKNOWN maybe-done', 2],
  [['unmet', 'taken'], true, 'PRECONDITION_FAILED not-done', 1],
  [['lost', 'unmet', 'taken'], true, 'WRITE_UNKNOWN maybe-done', 2],
  [['lost', 'superseded', 'taken'], true, `SUPERSEDED ${failures.superseded.outcome}`, 2],
])('servers %j, repeatUnknown %s: %s', async (...[answers, isRepeated, wanted, count]) => {
  const tried = clientOf(answers);
  expect(await outcome(tried, isRepeated)).toBe(wanted);
  expect(tried.asked).toHaveLength(count);
});

test('only a write that was not repeated is advised to be', async () => {
  const hintOf = ({ client }: ReturnType<typeof clientOf>, repeatUnknown: boolean) =>
    client.put('key', 'value', { repeatUnknown }).catch(({ hint }: CodedError) => hint);
  expect(await hintOf(clientOf(['lost']), false)).toContain('with repeatUnknown the client writes');
  expect(await hintOf(clientOf(['lost', 'unmet']), true)).toMatch(/^read the key: one of the att/);
});

test('other writes try a server last for as long as it has not answered one', async () => {
  vi.useFakeTimers();
  try {
    const { avoid, client } = clientOf(['none']);
    void client.put('key', 'value');
    await vi.advanceTimersByTimeAsync(10);
    expect(avoid).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(clientAvoidMs);
    for (let second = 0; second < 3; second += 1) {
      avoid.mockClear();
      await vi.advanceTimersByTimeAsync(clientAvoidMs);
      expect(avoid).toHaveBeenCalledWith('0');
    }
  } finally {
    vi.useRealTimers();
  }
});
