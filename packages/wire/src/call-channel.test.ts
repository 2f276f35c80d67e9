// The call channel between two ends in memory, with a clock that the test advances.
import { AssertionError } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { peerQueueBytesMax, socketMessageBytesMax } from '@ringwright/base/limits';
import {
  answeringCallBytes,
  errorCharactersMax,
  frameCallsMax,
  misunderstoodCallsMax,
  unreadBytesMax,
} from '@ringwright/base/limits-wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { channelPair, ManualClock } from '../../../test/support/memory-ports.ts';
import type { AnswerFunction, CallHandler } from './call-channel.ts';
import { joinFrame, packEnvelope, unpackFrame } from './frame.ts';
import { messageKind } from './message.ts';

const echo = messageKind({ method: 'echo', request: z.number(), answer: z.number() });
const data = messageKind({
  method: 'data',
  request: z.union([z.instanceof(Uint8Array), z.array(z.instanceof(Uint8Array))]),
  answer: z.instanceof(Uint8Array),
});

const noFrame = { code: 1007, reason: 'not a frame of calls and answers' };
const tooMany = { code: 1008, reason: expect.stringContaining('are unknown') as string };

function answering(answer: AnswerFunction, method = 'echo'): Map<string, CallHandler> {
  const request = method === 'echo' ? echo.request : data.request;
  return new Map([[method, { request, answer }]]);
}

function pairWith(answer: AnswerFunction, method = 'echo') {
  const clock = new ManualClock();
  const [here, there] = channelPair(clock, [new Map(), answering(answer, method)]);
  return { clock, here, there };
}

/** Returns how a call ends, with its outcome if the error states one; 'open' while it waits. */
function codeOf(call: Promise<unknown>): () => string {
  let code = 'open';
  call.then(
    () => {
      code = 'answered';
    },
    (error: unknown) => {
      const isCoded = error instanceof CodedError;
      code = isCoded
        ? `${error.code} ${(error.details.outcome as string | undefined) ?? ''}`.trim()
        : `no CodedError: ${String(error)}`;
    },
  );
  return () => code;
}

describe('calls and answers', () => {
  test('each answer reaches its own call, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ value: fc.integer(), delayMs: fc.nat(50) }), { maxLength: 60 }),
        async (calls) => {
          const clock = new ManualClock();
          let next = 0;
          const later: AnswerFunction = (request) =>
            new Promise((resolve) => {
              clock.after(calls[next++]?.delayMs ?? 0, () => resolve(request));
            });
          const [here] = channelPair(clock, [new Map(), answering(later)]);
          const answers = calls.map(({ value }) => here.channel.call(echo, value, 1_000));
          await clock.flush();
          for (let ms = 0; ms <= 50; ms += 1) await clock.advance(1);
          expect(await Promise.all(answers)).toEqual(calls.map(({ value }) => value));
          expect(clock.timers, 'no time-out is left behind').toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('calls of one turn share a frame, and so do their answers', async () => {
    const { clock, here, there } = pairWith((value) => value);
    const answers = [1, 2, 3].map((value) => here.channel.call(echo, value, 1_000));
    expect(here.frames).toHaveLength(0);
    await clock.flush();
    expect(await Promise.all(answers)).toEqual([1, 2, 3]);
    expect([here.frames.length, there.frames.length]).toEqual([1, 1]);
  });

  test('the called end can call back over the same connection', async () => {
    const clock = new ManualClock();
    const back: AnswerFunction = async (request, caller) =>
      (await caller.call(echo, Number(request) + 1, 100)) * 10;
    const [here] = channelPair(clock, [answering((value) => value), answering(back)]);
    const answer = here.channel.call(echo, 4, 1_000);
    await clock.flush();
    expect(await answer).toBe(50);
  });
});

describe('failures', () => {
  test('a call without an answer in time gets PEER_TIMEOUT; a late one is dropped', async () => {
    const { clock, here } = pairWith(
      (value) => new Promise((resolve) => clock.after(200, () => resolve(value))),
    );
    const code = codeOf(here.channel.call(echo, 1, 100));
    await clock.flush();
    await clock.advance(99);
    expect(code()).toBe('open');
    await clock.advance(1);
    expect(code()).toBe('PEER_TIMEOUT');
    await clock.advance(200);
    const next = here.channel.call(echo, 2, 1_000);
    await clock.flush();
    await clock.advance(200);
    expect(await next).toBe(2);
  });

  test('closing rejects every waiting and every later call with the reason', async () => {
    const { clock, here } = pairWith(() => new Promise(() => undefined));
    const codes = [1, 2, 3].map((value) => codeOf(here.channel.call(echo, value, 100)));
    here.channel.close(new CodedError('PEER_UNREACHABLE', 'gone'));
    here.channel.close(new CodedError('PEER_FAILED', 'closed twice'));
    const later = codeOf(here.channel.call(echo, 4, 100));
    await clock.flush();
    expect([...codes, later].map((code) => code())).toEqual(Array(4).fill('PEER_UNREACHABLE'));
    expect(clock.timers).toBe(0);
    expect(here.frames, 'nothing leaves a closed channel').toHaveLength(0);
  });

  test('a full queue rejects a call with PEER_BUSY at once', async () => {
    const { clock, here } = pairWith((value) => value);
    here.queuedBytes = peerQueueBytesMax;
    const fits = codeOf(here.channel.call(echo, 1, 100));
    here.queuedBytes += 1;
    const busy = codeOf(here.channel.call(echo, 2, 100));
    await clock.flush();
    expect([fits(), busy()]).toEqual(['answered', 'PEER_BUSY rejected']);
    expect(here.frames).toHaveLength(1);
  });

  test('a caller that takes no answers gets PEER_BUSY, and learns which calls ran', async () => {
    let ran = 0;
    const { clock, here, there } = pairWith(() => {
      ran += 1;
      there.queuedBytes += peerQueueBytesMax;
      return Buffer.alloc(200_000);
    }, 'data');
    const calls = [1, 2, 3].map(() => codeOf(here.channel.call(data, Buffer.alloc(1), 100)));
    await clock.flush();
    const codes = calls.map((code) => code());
    expect(codes.filter((code) => code === 'PEER_BUSY unknown')).toHaveLength(ran);
    expect(codes.filter((code) => code === 'PEER_BUSY rejected')).toHaveLength(3 - ran);
    expect(ran).toBeGreaterThanOrEqual(1);
    expect(ran).toBeLessThanOrEqual(2);
    expect(Math.max(...there.frames.map(({ length }) => length))).toBeLessThan(10_000);
  });

  test('an unknown method, a malformed request and a malformed answer have codes', async () => {
    const { clock, here } = pairWith((value) => (value === 1 ? 'one' : value));
    const unknown = messageKind({ ...echo, method: 'nothing' });
    const loose = messageKind({ ...echo, request: z.string() });
    const codes = [
      codeOf(here.channel.call(unknown, 1, 100)),
      codeOf(here.channel.call(loose, 'text', 100)),
      codeOf(here.channel.call(echo, 1, 100)),
      codeOf(here.channel.call(echo, 2, 100)),
    ];
    await clock.flush();
    expect(codes.map((code) => code())).toEqual([
      'USAGE',
      'PEER_FAILED',
      'PEER_FAILED',
      'answered',
    ]);
  });

  test('a CodedError arrives with code, message, hint and details', async () => {
    const error = new CodedError('RING_STALE', 'old', { hint: 'fetch', details: { head: 7 } });
    const { clock, here } = pairWith(() => Promise.reject(error));
    const call = here.channel.call(echo, 1, 100);
    call.catch(() => undefined);
    await clock.flush();
    await expect(call).rejects.toThrow(CodedError);
    await expect(call).rejects.toMatchObject(error.toJSON());
  });

  test('an error code of a newer peer becomes PEER_FAILED and is named', async () => {
    const { clock, here } = pairWith(() => undefined);
    const call = here.channel.call(echo, 1, 100);
    call.catch(() => undefined);
    const document = { code: 'FROM_THE_FUTURE', message: 'what', hint: '', details: {} };
    here.channel.receive(joinFrame([packEnvelope([2, 1, document])]));
    await clock.flush();
    await expect(call).rejects.toMatchObject({
      code: 'PEER_FAILED',
      message: 'FROM_THE_FUTURE: what',
    });
  });

  test('a bug in a handler is answered with PEER_FAILED and then crashes the process', async () => {
    const { clock, here, there } = pairWith(() => {
      throw new AssertionError('impossible');
    });
    const code = codeOf(here.channel.call(echo, 1, 100));
    await expect(clock.flush()).rejects.toThrow('impossible');
    await clock.flush();
    expect(there.frames).toHaveLength(1);
    expect(code()).toBe('PEER_FAILED');
  });

  test('an error without a code is reported where it happened; its caller gets one', async () => {
    const bug = new TypeError('nothing there');
    const { clock, here, there } = pairWith(() => Promise.reject(bug));
    const code = codeOf(here.channel.call(echo, 1, 100));
    await clock.flush();
    expect([code(), here.bugs, there.bugs]).toEqual(['PEER_FAILED', [], [bug]]);
    const refusing = pairWith(() => Promise.reject(new CodedError('KEY_UNKNOWN', 'none')));
    const refused = codeOf(refusing.here.channel.call(echo, 1, 100));
    await refusing.clock.flush();
    expect([refused(), refusing.there.bugs]).toEqual(['KEY_UNKNOWN', []]);
  });

  test('a malformed frame is refused, and an answer to no call is dropped', () => {
    const { here } = pairWith(() => undefined);
    expect(here.channel.receive(Buffer.from('hello'))).toEqual(noFrame);
    expect(here.channel.receive(joinFrame([packEnvelope([1, 99, null])]))).toBeNull();
  });
});

describe('frames stay below the size of a message', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 2_200_000 }), { maxLength: 12 });

  test('for any calls at once, in requests and in answers', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), async (lengths, inArrays) => {
        const { clock, here, there } = pairWith((request) => {
          const [bytes] = [request].flat() as Uint8Array[];
          return bytes ?? Buffer.alloc(0);
        }, 'data');
        const calls = lengths.map((length) => {
          const bytes = Buffer.alloc(length, length);
          return here.channel.call(data, inArrays ? [bytes] : bytes, 1_000);
        });
        await clock.flush();
        const answers = await Promise.all(calls);
        expect(answers.map(({ length }) => length)).toEqual(lengths);
        for (const frame of [...here.frames, ...there.frames]) {
          expect(frame.length).toBeLessThan(socketMessageBytesMax);
          expect(unpackFrame(frame)).not.toBeNull();
        }
      }),
      { numRuns: 25 },
    );
  });

  test('a message that nearly fills a frame travels in one of its own', async () => {
    const { clock, here } = pairWith(() => Buffer.alloc(0), 'data');
    const lengths = [900_000, socketMessageBytesMax - 1_000, 900_000];
    const calls = lengths.map((length) => here.channel.call(data, Buffer.alloc(length), 1_000));
    await clock.flush();
    await Promise.all(calls);
    for (const { length } of here.frames) expect(length).toBeLessThan(socketMessageBytesMax);
  });

  test('thousands of refusals, which are larger than the calls, take several frames', async () => {
    const { clock, here, there } = pairWith(() => {
      throw new CodedError('RING_STALE', 'x'.repeat(300), { details: { head: 'y'.repeat(300) } });
    });
    const codes = Array.from({ length: 10_000 }, () => codeOf(here.channel.call(echo, 1, 1_000)));
    await clock.flush();
    expect(new Set(codes.map((code) => code()))).toEqual(new Set(['RING_STALE']));
    expect(there.frames.length).toBeGreaterThan(3);
    for (const { length } of there.frames) expect(length).toBeLessThan(socketMessageBytesMax);
  });

  test('a request or answer that fits no frame has a code, and the channel goes on', async () => {
    const { clock, here } = pairWith((request) => {
      const [bytes] = [request].flat() as Uint8Array[];
      return Buffer.alloc((bytes?.length ?? 0) * 1_000);
    }, 'data');
    const request = codeOf(here.channel.call(data, Buffer.alloc(socketMessageBytesMax), 100));
    const answer = codeOf(here.channel.call(data, Buffer.alloc(5_000), 100));
    const good = codeOf(here.channel.call(data, Buffer.alloc(5), 100));
    await clock.flush();
    expect([request(), answer(), good()]).toEqual([
      'VALUE_OUT_OF_RANGE',
      'VALUE_OUT_OF_RANGE',
      'answered',
    ]);
    expect(clock.timers).toBe(0);
  });

  test('a refusal that fits no frame arrives shortened', async () => {
    const long = 'x'.repeat(socketMessageBytesMax);
    const { clock, here } = pairWith(() => {
      throw new CodedError('RING_UNKNOWN', long, { details: { long } });
    }, 'data');
    const refused = here.channel.call(data, Buffer.alloc(5), 100).catch((error: unknown) => error);
    await clock.flush();
    expect(await refused).toMatchObject({ code: 'RING_UNKNOWN', details: {} });
    expect(((await refused) as Error).message).toHaveLength(errorCharactersMax);
  });

  test('more small calls than a frame may hold take several', async () => {
    const { clock, here, there } = pairWith((value) => value);
    const values = Array.from({ length: 2 * frameCallsMax + 1 }, (_, value) => value);
    const calls = values.map((value) => here.channel.call(echo, value, 1_000));
    await clock.flush();
    expect(await Promise.all(calls)).toEqual(values);
    expect([here.frames.length, there.frames.length]).toEqual([3, 3]);
  });
});

test('the bytes of calls count until the last call of their frame is answered', async () => {
  const open: (() => void)[] = [];
  const { clock, here, there } = pairWith(
    (value) => new Promise((resolve) => open.push(() => resolve(value))),
  );
  const calls = [1, 2, 3].map((value) => here.channel.call(echo, value, 1_000));
  await clock.flush();
  const [frame] = here.frames;
  const bytes = (frame?.length ?? 0) + 3 * answeringCallBytes;
  expect(there.answeringBytes).toBe(bytes);
  for (const answer of open.slice(0, 2)) answer();
  await clock.flush();
  expect(there.answeringBytes).toBe(bytes);
  there.channel.close(new CodedError('PEER_UNREACHABLE', 'gone'));
  open[2]?.();
  await clock.flush();
  expect([there.answeringBytes, here.answeringBytes]).toEqual([0, 0]);
  await Promise.all(calls.slice(0, 2));
});

describe('a foreign program at the other end', () => {
  const receiving = (frames: readonly Uint8Array[]) => {
    const { clock, there } = pairWith((value) => value);
    return { clock, there, taken: frames.map((frame) => there.channel.receive(frame)) };
  };
  const calls = (count: number, method: string, body: unknown): Uint8Array =>
    joinFrame(Array.from({ length: count }, (_, id) => packEnvelope([0, id, method, body])));

  test.each([
    ['of no method', 'nothing', 1],
    ['of no form', 'echo', 'text'],
  ])('after too many calls %s the connection ends', async (_name, method, body) => {
    const { clock, there, taken } = receiving([
      calls(misunderstoodCallsMax, method, body),
      calls(1, 'echo', 7),
      calls(1, method, body),
      calls(1, method, body),
    ]);
    expect(taken).toEqual([null, null, null, tooMany]);
    await clock.flush();
    const answers = there.frames.flatMap((frame) => unpackFrame(frame) ?? []);
    expect(answers).toHaveLength(misunderstoodCallsMax + 3);
    expect(there.answeringBytes).toBe(0);
  });

  test('valid calls compensate for invalid ones, over a long connection', async () => {
    const long = Array.from({ length: 10 * misunderstoodCallsMax }, (_, index) =>
      calls(1, index % 2 === 0 ? 'nothing' : 'echo', index),
    );
    const { clock, there, taken } = receiving(long);
    expect(new Set(taken)).toEqual(new Set([null]));
    await clock.flush();
    expect(there.channel.receive(calls(misunderstoodCallsMax, 'nothing', 1))).toBeNull();
    expect(there.channel.receive(calls(1, 'nothing', 1))).toEqual(tooMany);
  });

  test('of a frame full of invalid calls only the first ones are processed', async () => {
    const { clock, there, taken } = receiving([calls(frameCallsMax, 'nothing', 1)]);
    expect(taken).toEqual([tooMany]);
    await clock.flush();
    const answers = there.frames.flatMap((frame) => unpackFrame(frame) ?? []);
    expect(answers).toHaveLength(misunderstoodCallsMax + 1);
  });

  test('a frame with more calls than allowed is refused', () => {
    expect(receiving([calls(frameCallsMax + 1, 'echo', 1)]).taken).toEqual([noFrame]);
  });

  test('a long method name and a long field are shortened in the answer', async () => {
    const long = 'x'.repeat(1_000_000);
    const { clock, there } = receiving([
      calls(1, long, 1),
      calls(1, 'echo', { [long.slice(0, 60)]: long }),
    ]);
    await clock.flush();
    for (const { length } of there.frames) expect(length).toBeLessThan(3 * errorCharactersMax);
  });

  test('a caller that reads no answers is disconnected', () => {
    const { there } = receiving([]);
    there.queuedBytes = unreadBytesMax;
    expect(there.channel.receive(calls(1, 'echo', 1))).toBeNull();
    there.queuedBytes += 1;
    const reason = expect.stringContaining('unread') as string;
    expect(there.channel.receive(calls(1, 'echo', 1))).toEqual({ code: 1008, reason });
  });

  test('the texts of its errors are shortened', async () => {
    const { clock, here } = pairWith(() => undefined);
    const call = here.channel.call(echo, 1, 100).catch((error: unknown) => error);
    const long = 'x'.repeat(1_000_000);
    const document = { code: long, message: long, hint: long, details: {} };
    here.channel.receive(joinFrame([packEnvelope([2, 1, document])]));
    await clock.flush();
    const error = (await call) as CodedError;
    expect([error.message.length, error.hint.length]).toEqual(Array(2).fill(errorCharactersMax));
  });

  test('the texts of its errors control no terminal', async () => {
    const { clock, here } = pairWith(() => undefined);
    const call = here.channel.call(echo, 1, 100).catch((error: unknown) => error);
    const document = { code: 'RING_UNKNOWN', message: 'a\u001b[2J', hint: 'b\u009b', details: {} };
    here.channel.receive(joinFrame([packEnvelope([2, 1, document])]));
    await clock.flush();
    expect(await call).toMatchObject({ message: 'a\\u001b[2J', hint: 'b\\u009b' });
  });

  test('details that no frame may hold are left out of a refusal', async () => {
    const details = { when: new Date(), all: new Set([1]) };
    const { clock, here } = pairWith(() => {
      throw new CodedError('RING_UNKNOWN', 'none', { details });
    });
    const call = here.channel.call(echo, 1, 100).catch((error: unknown) => error);
    await clock.flush();
    expect(await call).toMatchObject({ code: 'RING_UNKNOWN', message: 'none', details: {} });
  });
});

test('long bytes arrive unchanged, and are freed only if they were given away', async () => {
  const answer = z.object({ data: z.instanceof(Uint8Array) });
  const chunk = messageKind({ method: 'chunk', request: z.boolean(), answer });
  for (const givesAway of [true, undefined]) {
    const own = Buffer.allocUnsafeSlow(200_000).fill(7);
    const handler = { request: chunk.request, answer: () => ({ data: own }) };
    const handlers = new Map([['chunk', givesAway ? { ...handler, givesAway } : handler]]);
    const clock = new ManualClock();
    const [here] = channelPair(clock, [new Map(), handlers]);
    const call = here.channel.call(chunk, true, 100);
    await clock.flush();
    expect(Buffer.alloc(200_000, 7).equals((await call).data)).toBe(true);
    expect(own).toHaveLength(givesAway ? 0 : 200_000);
  }
});
