// A silent connection is ended at the second ping. Any message keeps it.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { keepAlive, pingIntervalMs } from './keep-alive.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watched(answers: 'pong' | 'message' | 'nothing') {
  const seen: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    ping: () => {
      seen.push('ping');
      if (answers !== 'nothing') socket.emit(answers);
    },
    terminate: () => {
      seen.push('end');
      socket.emit('close');
    },
  });
  keepAlive(socket as unknown as WebSocket);
  return { seen, socket };
}

test.each(['pong', 'message'] as const)('a %s in time keeps the connection', (word) => {
  const { seen } = watched(word);
  vi.advanceTimersByTime(4 * pingIntervalMs);
  expect(seen).toEqual(['ping', 'ping', 'ping', 'ping']);
});

test('silence ends the connection once, and no timer is left', () => {
  const { seen } = watched('nothing');
  vi.advanceTimersByTime(10 * pingIntervalMs);
  expect(seen).toEqual(['ping', 'end']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a socket that is closing is not pinged', () => {
  const { seen, socket } = watched('pong');
  socket.readyState = 2;
  vi.advanceTimersByTime(2 * pingIntervalMs);
  expect(seen).toEqual(['end']);
});

test('a paused socket is not silent, and has its full time once it is read again', () => {
  const { seen, socket } = watched('nothing');
  socket.isPaused = true;
  vi.advanceTimersByTime(4 * pingIntervalMs);
  socket.isPaused = false;
  vi.advanceTimersByTime(pingIntervalMs);
  expect(seen).toEqual(Array(5).fill('ping'));
  vi.advanceTimersByTime(pingIntervalMs);
  expect(seen).toEqual([...Array(5).fill('ping'), 'end'] as string[]);
});
