// How long a call waits: longer for a long request, and while a long message arrives.
import { slowLinkRate, slowMessageBytesMin } from '@ringwright/base/limits-wire';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ManualClock } from '../../../test/support/memory-ports.ts';
import { messageKind } from './message.ts';
import { slowLinkMsMax, WaitingCalls } from './waiting-calls.ts';

const kind = messageKind({ method: 'read', request: z.null(), answer: z.number() });
const timeoutMs = 5_000;

function waitingCalls() {
  const clock = new ManualClock();
  const line = { arriving: 0 };
  const port = { peer: 'there', after: clock.after, arrivingBytes: () => line.arriving };
  const calls = new WaitingCalls(port);
  const ends: string[] = [];
  const add = (id: number, bytes = 100): void => {
    const end = (how: string) => (): void => void ends.push(`${id} ${how}`);
    calls.add(id, { kind, resolve: end('answered'), reject: end('ended') }, { bytes, timeoutMs });
  };
  return { clock, line, calls, ends, add };
}

test('a long request has the time that a slow line takes for it in addition', async () => {
  const { clock, ends, add } = waitingCalls();
  add(1, slowMessageBytesMin - 1);
  add(2, 1_000_000);
  await clock.advance(timeoutMs);
  expect(ends).toEqual(['1 ended']);
  await clock.advance(1_000_000 / slowLinkRate - 1);
  expect(ends).toEqual(['1 ended']);
  await clock.advance(1);
  expect(ends).toEqual(['1 ended', '2 ended']);
  expect(clock.timers).toBe(0);
});

test('calls behind a long request have the time of the line for it too', async () => {
  const { clock, ends, add } = waitingCalls();
  add(1, 1_000_000);
  add(2, 1_000_000);
  add(3);
  await clock.advance(timeoutMs + 2 * (1_000_000 / slowLinkRate) - 1);
  expect(ends).toEqual(['1 ended']);
  await clock.advance(1);
  expect(ends).toEqual(['1 ended', '2 ended', '3 ended']);
  add(4);
  await clock.advance(timeoutMs);
  expect(ends.at(-1)).toBe('4 ended');
  expect(clock.timers).toBe(0);
});

test('requests beyond the longest message add no time', async () => {
  const { clock, ends, add } = waitingCalls();
  for (let id = 1; id <= 20; id += 1) add(id, 1_000_000);
  await clock.advance(timeoutMs + slowLinkMsMax);
  expect(ends).toHaveLength(20);
});

test('a request that the other end has received has its timeout from then on', async () => {
  const { clock, calls, ends, add } = waitingCalls();
  add(1, 1_000_000);
  calls.noteSent();
  const pinged = calls.notePing();
  add(2, 1_000_000);
  await clock.advance(1_000);
  calls.notePong(pinged);
  add(3);
  await clock.advance(timeoutMs - 1);
  expect(ends).toEqual([]);
  await clock.advance(1);
  expect(ends).toEqual(['1 ended']);
  calls.take(2)?.resolve(2);
  add(4);
  await clock.advance(timeoutMs);
  expect(ends).toEqual(['1 ended', '2 answered', '4 ended']);
  await clock.advance(1_000_000 / slowLinkRate);
  expect(ends.at(-1)).toBe('3 ended');
  expect(clock.timers).toBe(0);
});

test('a call past its time waits for the messages before the pong of a later ping', async () => {
  const { clock, line, calls, ends, add } = waitingCalls();
  for (const id of [1, 2, 3]) add(id);
  line.arriving = slowMessageBytesMin;
  const early = calls.notePing();
  await clock.advance(timeoutMs);
  const late = calls.notePing();
  calls.take(1)?.resolve(1);
  calls.notePong(early);
  expect(ends).toEqual(['1 answered']);
  calls.take(2)?.resolve(2);
  calls.notePong(late);
  expect(ends).toEqual(['1 answered', '2 answered', '3 ended']);
  expect(clock.timers).toBe(0);
});

test('a message that never ends keeps no call for ever', async () => {
  const { clock, line, ends, add } = waitingCalls();
  add(1);
  line.arriving = slowMessageBytesMin;
  await clock.advance(timeoutMs);
  await clock.advance(slowLinkMsMax - 1);
  expect(ends).toEqual([]);
  await clock.advance(1);
  expect(ends).toEqual(['1 ended']);
});

test('the first bytes of a message are no reason to wait', async () => {
  const { clock, line, ends, add } = waitingCalls();
  add(1);
  line.arriving = slowMessageBytesMin - 1;
  await clock.advance(timeoutMs);
  expect(ends).toEqual(['1 ended']);
});

test('calls past their time end with the connection', async () => {
  const { clock, line, calls, ends, add } = waitingCalls();
  add(1);
  line.arriving = slowMessageBytesMin;
  await clock.advance(timeoutMs);
  calls.rejectAll(new Error('closed'));
  expect(ends).toEqual(['1 ended']);
  expect(clock.timers).toBe(0);
});
