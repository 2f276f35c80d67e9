// A silent connection is ended after some pings. Any byte keeps it.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { keepAlive, pingIntervalMs, silentMax, silentSendingMax } from './keep-alive.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** `arrivingBytes`: what comes after each ping. */
function watched(arrivingBytes: number) {
  const seen: string[] = [];
  const stream = { bytesRead: 0, bytesWritten: 0 };
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    ping: () => {
      seen.push('ping');
      stream.bytesRead += arrivingBytes;
      stream.bytesWritten += 6;
    },
    terminate: () => {
      seen.push('end');
      socket.emit('close');
    },
  });
  keepAlive(socket as unknown as WebSocket, stream);
  const pass = (intervals: number) => vi.advanceTimersByTime(intervals * pingIntervalMs);
  pass(1); // whatever came before counts as life
  return { seen, socket, stream, pass };
}

const pings = (count: number): string[] => Array<string>(count).fill('ping');

test('a part of a message, or of the pong behind it, keeps the connection', () => {
  const { seen, pass } = watched(1);
  pass(3 * silentSendingMax);
  expect(seen).toEqual(pings(3 * silentSendingMax));
});

test('silence ends the connection once, and no timer is left', () => {
  const { seen, pass } = watched(0);
  pass(10 * silentMax);
  expect(seen).toEqual([...pings(silentMax - 1), 'end']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a byte after all but one of the silent intervals gives the full time again', () => {
  const { seen, stream, pass } = watched(0);
  for (let round = 0; round < 3; round += 1) {
    pass(silentMax - 1);
    stream.bytesRead += 1;
    pass(1);
  }
  expect(seen).not.toContain('end');
});

test('while a long message is being sent, an older release may be silent between its pings', () => {
  const { seen, stream, pass } = watched(0);
  stream.bytesWritten += 1_000_000;
  pass(silentSendingMax - 1);
  expect(seen).not.toContain('end');
  pass(1);
  expect(seen.at(-1)).toBe('end');
});

test('a suspended process ends no connection before it reads what has come meanwhile', () => {
  const { seen, stream } = watched(0);
  // Timers that are late run once, before anything is read.
  vi.setSystemTime(Date.now() + 60 * pingIntervalMs);
  vi.advanceTimersToNextTimer();
  expect(seen).toEqual(pings(1));
  stream.bytesRead += 1;
  vi.advanceTimersToNextTimer();
  expect(seen).toEqual(pings(1 + 1));
});

test('a connection that is busy in both directions is not pinged', () => {
  const { seen, stream, pass } = watched(0);
  for (let interval = 0; interval < 2 * silentMax; interval += 1) {
    stream.bytesRead += 1;
    stream.bytesWritten += 1;
    pass(1);
  }
  expect(seen).toEqual([]);
});

test('a connection that only receives sends pings, which the other end may wait for', () => {
  const { seen, stream, pass } = watched(0);
  for (let interval = 0; interval < 3; interval += 1) {
    stream.bytesRead += 1;
    pass(1);
  }
  expect(seen).toEqual(pings(3));
});

test('a socket that is closing is not pinged', () => {
  const { seen, socket, pass } = watched(6);
  socket.readyState = 2;
  pass(silentMax);
  expect(seen).toEqual(['end']);
});

test('a paused socket is not silent, and has its full time once it is read again', () => {
  const { seen, socket, pass } = watched(0);
  socket.isPaused = true;
  pass(3 * silentSendingMax);
  socket.isPaused = false;
  pass(silentMax - 1);
  expect(seen).not.toContain('end');
  pass(1);
  expect(seen.at(-1)).toBe('end');
});
