// A silent connection is ended at the second ping. Any byte keeps it.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { keepAlive, pingIntervalMs } from './keep-alive.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watched(arrivingBytes: number) {
  const seen: string[] = [];
  const stream = { bytesRead: 0 };
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    ping: () => {
      seen.push('ping');
      stream.bytesRead += arrivingBytes;
    },
    terminate: () => {
      seen.push('end');
      socket.emit('close');
    },
  });
  keepAlive(socket as unknown as WebSocket, stream);
  return { seen, socket };
}

test('a part of a message, or of the pong behind it, keeps the connection', () => {
  const { seen } = watched(1);
  vi.advanceTimersByTime(4 * pingIntervalMs);
  expect(seen).toEqual(['ping', 'ping', 'ping', 'ping']);
});

test('silence ends the connection once, and no timer is left', () => {
  const { seen } = watched(0);
  vi.advanceTimersByTime(10 * pingIntervalMs);
  expect(seen).toEqual(['ping', 'end']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a socket that is closing is not pinged', () => {
  const { seen, socket } = watched(6);
  socket.readyState = 2;
  vi.advanceTimersByTime(2 * pingIntervalMs);
  expect(seen).toEqual(['end']);
});

test('a paused socket is not silent, and has its full time once it is read again', () => {
  const { seen, socket } = watched(0);
  socket.isPaused = true;
  vi.advanceTimersByTime(4 * pingIntervalMs);
  socket.isPaused = false;
  vi.advanceTimersByTime(pingIntervalMs);
  expect(seen).toEqual(Array(5).fill('ping'));
  vi.advanceTimersByTime(pingIntervalMs);
  expect(seen).toEqual([...Array(5).fill('ping'), 'end'] as string[]);
});
