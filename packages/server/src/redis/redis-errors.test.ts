// Error replies to Redis clients: the first word, and whether the write may have taken effect.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { writeByCall } from '../../../../test/support/write-by-call.ts';
import { LongWrites } from '../coordinate/long-writes.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { RingRequests } from '../rings/ring-requests.ts';
import { failureReply } from './redis-answer.ts';
import type { RedisCall } from './redis-command.ts';
import { findCommand } from './redis-commands.ts';

const textOf = (error: unknown): string => {
  const { reply } = failureReply(error);
  return reply.kind === 'error' ? reply.text : reply.kind;
};
const failed = (code: ErrorCode, outcome?: string): CodedError =>
  new CodedError(code, 'why', { details: outcome === undefined ? {} : { outcome } });

test.each<[ErrorCode, string | undefined, string]>([
  ['NOT_ENOUGH_REPLICAS', 'unknown', 'NOREPLICAS why; a write may still appear'],
  ['NOT_ENOUGH_REPLICAS', 'rejected', 'NOREPLICAS why; nothing was written'],
  ['KEY_CONTENDED', 'rejected', 'TRYAGAIN why; nothing was written'],
  ['KEY_OVERTAKEN', 'unknown', 'OVERTAKEN why; a write may still appear'],
  ['PEER_TIMEOUT', 'unknown', 'ERR why; a write may still appear'],
  ['CLOCK_AHEAD', 'rejected', 'CLOCKAHEAD why; nothing was written'],
  // A read, or a request that never became a write.
  ['NOT_ENOUGH_REPLICAS', undefined, 'NOREPLICAS why'],
  ['KEY_INVALID', undefined, 'ERR why'],
  [
    'TOKEN_MISSING',
    undefined,
    'NOAUTH why: send AUTH ID SECRET; ring-builder access grant creates a token',
  ],
])('an error %s with outcome %s is answered: %s', (code, outcome, text) => {
  expect(textOf(failed(code, outcome))).toBe(text);
});

/** Runs a command on a ring of one device, which answers for each key as its name says. */
async function answerTo(...words: readonly string[]): Promise<string> {
  const active = activeOn(servedRing({ replicas: 1, devices: 1, power: 0 }), 0);
  const call = (_to: unknown, _kind: unknown, { key }: { key: Uint8Array }): Promise<unknown> => {
    const name = Buffer.from(key).toString();
    if (name.startsWith('stored')) return Promise.resolve({ kind: 'stored' });
    return Promise.reject(failed(name.startsWith('lost') ? 'PEER_TIMEOUT' : 'DISK_FULL'));
  };
  const coordinator = {
    rings: { get: () => active, list: () => [active] },
    clock: { machineMs: () => active.activatedMs, nowMs: () => active.activatedMs },
    issueStamp: () => ({ ms: 1, tie: 0 }),
    requests: new RingRequests(),
    longWrites: new LongWrites(0),
    devices: { call, write: writeByCall(call as unknown as DeviceCaller['call']) },
  };
  const request = words.map((word) => Buffer.from(word));
  const about = { args: request.slice(1), keyspace: 'cities', consistency: 'one' };
  const redisCall = { ports: { coordinator }, client: {}, ...about } as unknown as RedisCall;
  try {
    const reply = await findCommand(request).command.run!(redisCall);
    return reply.kind;
  } catch (error) {
    return textOf(error);
  }
}

function mset(...keys: readonly string[]): Promise<string> {
  return answerTo('MSET', ...keys.flatMap((key) => [key, 'value']));
}

test('an MSET says that nothing was written if each of its keys was refused', async () => {
  expect(await mset('stored1', 'stored2')).toBe('simple');
  expect(await mset('full1', 'full2')).toMatch(/2 of 2 keys failed.*; nothing was written$/);
});

test('an MSET of which a key may be stored does not say that nothing was written', async () => {
  expect(await mset('full1', 'stored1')).toMatch(/1 of 2 keys failed.*; a write may still appear$/);
  expect(await mset('full1', 'lost1')).toMatch(/2 of 2 keys failed.*; a write may still appear$/);
  expect(await mset('', 'stored1')).toBe('ERR a key of 0 bytes, allowed are 1 to 1024');
});

test('a DEL reports all keys that failed, not only the first one', async () => {
  expect(await answerTo('DEL', 'full1', 'full2')).toMatch(/2 of 2 keys failed, the first: /);
  expect(await answerTo('DEL', 'lost1')).not.toMatch(/1 of 1/);
});
