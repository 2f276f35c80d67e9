// Many writes in one message: each write gets its own outcome, and never that of another one.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import {
  batchedWriteBytesMax,
  batchedWritesMax,
  collectedWritesMs,
  collectedWritesSentMax,
} from '@ringwright/base/limits-wire';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { unpackWrites } from '@ringwright/wire/packed-writes';
import { type recordsWrite, writeKinds } from '@ringwright/wire/records';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectWrites, WriteBatches, type WriteRequest } from './device-caller.ts';

type Many = AnswerOf<typeof recordsWrite>;
type ManyWrites = RequestOf<typeof recordsWrite>;
type Peers = ConstructorParameters<typeof WriteBatches>[0]['peers'];

function setup(
  answer: (keys: string[]) => Many | CodedError,
  takesMany = true,
  defer: (send: () => void) => void = setImmediate,
) {
  const messages: string[][] = [];
  const call = (address: string, request: WriteRequest | ManyWrites): Promise<unknown> => {
    if (!('writes' in request)) {
      messages.push([address, Buffer.from(request.key).toString()]);
      return Promise.resolve({ kind: 'stored' });
    }
    const keys = unpackWrites(request.writes)!.map(({ key }) => Buffer.from(key).toString());
    messages.push([`${address} v${request.ringVersion}`, ...keys]);
    const given = answer(keys);
    return given instanceof CodedError ? Promise.reject(given) : Promise.resolve(given);
  };
  const connect = (address: string) => ({
    call: (_: unknown, request: WriteRequest | ManyWrites) => call(address, request),
  });
  const peers = { connect } as unknown as Peers;
  const batches = new WriteBatches({ peers, takesMany: () => takesMany }, defer);
  const outcomes: string[] = [];
  const add = (
    address: string,
    key: string,
    options: { version?: number; bytes?: number } = {},
  ) => {
    const { version: ringVersion = 1, bytes = 1 } = options;
    const request: WriteRequest = {
      ...{ keyspace: 'cities', ringVersion, partition: 0, key: Buffer.from(key) },
      ...{ value: Buffer.alloc(bytes), ms: 1, tie: 0 },
    };
    batches.add(address, request, (found, error) => {
      const code = error instanceof CodedError ? error.code : String(error);
      outcomes.push(`${key} ${found === null ? code : found.kind}`);
    });
  };
  const endTurn = async (): Promise<void> => {
    for (const _ of ['it goes', 'it is answered']) await endOfTurn();
  };
  return { add, endTurn, messages, outcomes };
}

const stored = (keys: string[]): Many => {
  return { kinds: new Uint8Array(keys.length), stamps: [], errors: [] };
};

test('the writes of one turn go to each server in one message of their own', async () => {
  const { add, endTurn, messages, outcomes } = setup(stored);
  for (const key of ['a', 'b']) for (const address of ['one', 'two']) add(address, key);
  expect(messages).toEqual([]);
  await endTurn();
  add('one', 'c');
  await endTurn();
  expect(messages).toEqual([
    ['one v1', 'a', 'b'],
    ['two v1', 'a', 'b'],
    ['one', 'c'],
  ]);
  expect(outcomes.sort()).toEqual(['a stored', 'a stored', 'b stored', 'b stored', 'c stored']);
});

test('few collected writes go with their turn, others at the end of the interval', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { add, endTurn, messages } = setup(stored, true, collectWrites());
  const addInTurns = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      add('one', key);
      await endTurn();
    }
  };
  for (const name of ['first', 'second']) {
    const few = Array.from({ length: collectedWritesSentMax }, (_, n) => `${name} ${n}`);
    await addInTurns([...few, `${name} waits`, `${name} waits too`]);
    expect(messages.splice(0)).toEqual(few.map((key) => ['one', key]));
    vi.advanceTimersByTime(collectedWritesMs);
    await endTurn();
    expect(messages.splice(0)).toEqual([['one v1', `${name} waits`, `${name} waits too`]]);
  }
  await addInTurns(['rare']);
  vi.advanceTimersByTime(collectedWritesMs);
  expect(messages).toEqual([['one', 'rare']]);
});

test('a full batch of collected writes does not wait', () => {
  const { add, messages } = setup(stored, true, () => undefined);
  for (let n = 0; n <= batchedWritesMax; n += 1) add('one', `${n}`);
  expect(messages).toHaveLength(1);
  expect(messages[0]).toHaveLength(1 + batchedWritesMax);
});

test('each write gets its own outcome', async () => {
  const document = new CodedError('PARTITION_FILLING', 'not yet').toJSON();
  const kinds = ['stored', 'failed', 'stale', 'stored', 'promised'] as const;
  const { add, endTurn, outcomes } = setup(() => ({
    kinds: Uint8Array.from(kinds.map((kind) => writeKinds.indexOf(kind))),
    stamps: [
      { ms: 7, tie: 1 },
      { ms: 8, tie: 2 },
    ],
    errors: [document],
  }));
  for (const key of ['a', 'b', 'c', 'd', 'e']) add('one', key);
  await endTurn();
  expect(outcomes).toEqual([
    'a stored',
    'b PARTITION_FILLING',
    'c stale',
    'd stored',
    'e promised',
  ]);
});

test('every write gets an outcome if the message is lost or answered in part', async () => {
  const lost = setup(() => new CodedError('PEER_TIMEOUT', 'lost'));
  for (const key of ['a', 'b']) lost.add('one', key);
  await lost.endTurn();
  expect(lost.outcomes).toEqual(['a PEER_TIMEOUT', 'b PEER_TIMEOUT']);
  const cut = setup(() => ({ kinds: Uint8Array.of(0, 1, 9), stamps: [], errors: [] }));
  for (const key of ['a', 'b', 'c', 'd']) cut.add('one', key);
  await cut.endTurn();
  expect(cut.outcomes).toEqual(['a stored', 'b PEER_FAILED', 'c PEER_FAILED', 'd PEER_FAILED']);
});

test('a write goes alone if its value is long or the server takes one at a time', async () => {
  const older = setup(stored, false);
  for (const key of ['a', 'b']) older.add('one', key);
  expect(older.messages).toEqual([
    ['one', 'a'],
    ['one', 'b'],
  ]);
  const { add, endTurn, messages } = setup(stored);
  add('one', 'long', { bytes: batchedWriteBytesMax });
  for (const key of ['a', 'b']) add('one', key);
  await endTurn();
  expect(messages).toEqual([
    ['one', 'long'],
    ['one v1', 'a', 'b'],
  ]);
});

test('writes made with two versions of a ring do not share a message', async () => {
  const { add, endTurn, messages } = setup(stored);
  for (const version of [1, 1, 2, 2]) add('one', `k${version}`, { version });
  await endTurn();
  expect(messages).toEqual([
    ['one v1', 'k1', 'k1'],
    ['one v2', 'k2', 'k2'],
  ]);
});
