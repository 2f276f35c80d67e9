// The checker must be able to fail: one small history for each possible violation.
import { stampTieMax } from '@ringwright/base/stamp';
import { expect, test } from 'vitest';
import { violationsOf } from './history.ts';
import type { Operation } from './history-operation.ts';

let now = 0;
const next = () => ({ invokedMs: (now += 10), returnedMs: now + 5, key: 'k', port: 1 });
const at = (ms: number) => ({ ms, tie: 0 });

function write(value: string, ms: number | null, outcome: Operation['outcome'] = 'acked') {
  const stamp = ms === null ? null : at(ms);
  return { ...next(), kind: 'write', value, stamp, outcome } as const;
}

function remove(ms: number | null, outcome: Operation['outcome'] = 'acked') {
  const stamp = ms === null ? null : at(ms);
  return { ...next(), kind: 'delete', value: null, stamp, outcome } as const;
}

function read(value: string | null, ms: number | null) {
  const stamp = ms === null ? null : at(ms);
  return { ...next(), kind: 'read', value, stamp, outcome: 'acked' } as const;
}

/** As the Redis protocol returns it: without its stamp. */
const told = (operation: Operation): Operation => ({ ...operation, stamp: null });
const mine = (operation: Operation): Operation => ({ ...operation, session: 's' });
const dropped = (ms: number): Operation => ({ ...read(null, ms), stamp: { ms, tie: stampTieMax } });
const lost = (value: string, ms: number, newer: number): Operation => {
  return { ...write(value, ms, 'superseded'), newer: at(newer) };
};

test.each([
  ['a value read back', [write('a', 1), read('a', 1)]],
  ['nothing before the first write', [read(null, null), write('a', 1)]],
  ['a newer value than the acknowledged one', [write('a', 1), write('b', 2), read('b', 2)]],
  ['an unknown write that appears', [write('a', null, 'unknown'), read('a', 7), read('a', 7)]],
  ['a superseded write, read before the newer', [write('a', 1, 'superseded'), read('a', 1)]],
  ['a delete', [write('a', 1), remove(2), read(null, 2)]],
  ['an unknown delete', [write('a', 1), remove(null, 'unknown'), read(null, 5)]],
  [
    'an unstamped value that a stamped read shows',
    [write('a', 1), told(write('b', 2)), read('b', 2)],
  ],
  ['values whose stamps nobody was told', [told(write('a', 1)), told(read('a', 1)), read('a', 1)]],
  ['nothing, unstamped, after a delete', [write('a', 1), remove(2), told(read(null, 2))]],
  [
    'a mark for dropped tombstones, then an older tombstone',
    [remove(1), dropped(9), read(null, 1)],
  ],
  [
    'a lower mark of a merged partition, for a tombstone of a parent',
    [mine(dropped(1)), mine(write('a', 2)), told(remove(3)), mine(dropped(1))],
  ],
  ['a session that loses to somebody else', [mine(write('a', 1)), mine(lost('b', 2, 3))]],
])('accepts %s', (_, history) => {
  expect(violationsOf(history)).toEqual([]);
});

test.each([
  ['lost ack', 'an older value', [write('a', 1), write('b', 2), read('a', 1)]],
  ['lost ack', 'nothing', [write('a', 1), read(null, null)]],
  ['lost ack', 'a deleted value', [write('a', 1), remove(2), read('a', 1)]],
  [
    'not monotonic',
    'an unknown write that is seen and then unseen',
    [write('a', 1), write('b', null, 'unknown'), read('b', 2), read('a', 1)],
  ],
  ['invented', 'a value nobody wrote', [read('x', 1)]],
  ['invented', 'a rejected write', [write('a', null, 'rejected'), read('a', 1)]],
  ['invented', 'a value written later', [read('a', 1), write('a', 1)]],
  ['invented', 'another stamp than was acknowledged', [write('a', 1), read('a', 2)]],
  [
    'invented',
    'two stamps for one value',
    [write('a', null, 'unknown'), read('a', 2), read('a', 3)],
  ],
  ['invented', 'a tombstone nobody wrote', [write('a', 1), read(null, 2)]],
  ['lost ack', 'nothing, unstamped', [write('a', 1), told(read(null, null))]],
  [
    'lost ack',
    'a value older than an unstamped write',
    [write('a', 1), told(write('b', 2)), read('a', 1)],
  ],
  [
    'not monotonic',
    'a value from under the dropped tombstones',
    [write('a', 1), dropped(9), read('a', 1)],
  ],
  ['lost ack', 'nothing, by a mark below the write', [write('a', 2), dropped(1)]],
  [
    'session',
    'nothing, by a mark below its own write',
    [mine({ ...write('a', 2), level: 'one' }), mine({ ...dropped(1), level: 'one' })],
  ],
  ['acked below', 'a write that should have been superseded', [write('a', 2), write('b', 1)]],
  ['stamp twice', 'one stamp for two keys', [write('a', 1), { ...write('b', 1), key: 'other' }]],
  [
    'session',
    'a read behind its own write',
    [
      told({ ...write('b', 1), level: 'one' }),
      mine(write('a', 2)),
      mine({ ...read('b', 1), level: 'one' }),
    ],
  ],
  ['session', 'a write that loses to its own past', [mine(write('a', 2)), mine(lost('b', 1, 2))]],
])('reports %s: %s', (name, _, history) => {
  const found = violationsOf(history);
  expect(found.length).toBeGreaterThan(0);
  expect(found[0]).toContain(name);
});

test('an operation that overlaps a read does not change what the read may return', () => {
  const first = write('a', 1);
  const late = { ...write('b', 2), returnedMs: Number.POSITIVE_INFINITY };
  expect(violationsOf([first, late, read('a', 1)])).toEqual([]);
  expect(violationsOf([first, late, read('b', 2)])).toEqual([]);
});
