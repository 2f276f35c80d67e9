// A silent connection is ended after some pings. Any byte keeps it.
import { EventEmitter } from 'node:events';
import { slowMessageBytesMin } from '@ringwright/base/limits-wire';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { idleLooks, keepAlive, lookIntervalMs, silentMax, silentSendingMax } from './keep-alive.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** `arrivingBytes`: what comes after each ping. `size`: calls that wait for an answer. */
function watched(arrivingBytes: number, size = 1) {
  const seen: string[] = [];
  const stream = { bytesRead: 0, bytesWritten: 0 };
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    lastPing: '',
    ping: (content: string) => {
      seen.push('ping');
      socket.lastPing = content;
      stream.bytesRead += arrivingBytes;
      stream.bytesWritten += 6;
    },
    terminate: () => {
      seen.push('end');
      socket.emit('close');
    },
  });
  const notePing = () => ({ ping: 3, sentId: 7 });
  const notePong = ({ ping, sentId }: ReturnType<typeof notePing>): void =>
    void seen.push(`pong ${ping} ${sentId}`);
  keepAlive(socket as unknown as WebSocket, stream, { size, notePing, notePong });
  const pass = (looks: number) => vi.advanceTimersByTime(looks * lookIntervalMs);
  pass(1); // whatever came before counts as life
  return { seen, socket, stream, pass };
}

const pings = (count: number): string[] => Array<string>(count).fill('ping');

test('a part of a message, or of the pong behind it, keeps the connection', () => {
  const { seen, pass } = watched(1);
  pass(3 * silentSendingMax);
  expect(seen).toEqual(pings(1 + 3 * silentSendingMax));
});

test('silence ends the connection once, and no timer is left', () => {
  const { seen, pass } = watched(0);
  pass(10 * silentMax);
  expect(seen).toEqual([...pings(silentMax), 'end']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a byte after all but one of the silent looks gives the full time again', () => {
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

test('what comes while a long message is being sent does not shorten the time for it', () => {
  const { seen, socket, stream, pass } = watched(0);
  stream.bytesWritten += 1_000_000;
  pass(silentSendingMax - 1);
  stream.bytesRead += 1;
  pass(silentSendingMax);
  expect(seen).not.toContain('end');
  stream.bytesRead += 1;
  socket.emit('pong', Buffer.from(socket.lastPing));
  expect(seen.at(-1)).toBe('pong 3 7');
  pass(silentMax);
  expect(seen).not.toContain('end');
  pass(1);
  expect(seen.at(-1)).toBe('end');
});

test('the receiver of a long message pings although it waits for nothing', () => {
  const { seen, stream, pass } = watched(0, 0);
  for (let look = 1; look < idleLooks; look += 1) {
    stream.bytesRead += slowMessageBytesMin;
    pass(1);
  }
  expect(seen).toEqual(pings(idleLooks - 1));
});

test('a suspended process ends no connection before it reads what has come meanwhile', () => {
  const { seen, stream } = watched(0);
  // Timers that are late run once, before anything is read.
  vi.setSystemTime(Date.now() + 60 * lookIntervalMs);
  vi.advanceTimersToNextTimer();
  expect(seen).toEqual(pings(2));
  stream.bytesRead += 1;
  vi.advanceTimersToNextTimer();
  expect(seen).toEqual(pings(3));
});

test('an idle connection is pinged rarely, and ends when a ping has no answer', () => {
  const { seen, stream, pass } = watched(0, 0);
  pass(idleLooks - 1);
  expect(seen).toEqual(pings(1));
  stream.bytesRead += 1;
  pass(idleLooks);
  expect(seen).toEqual(pings(2));
  pass(silentMax - 1);
  expect(seen).toEqual(pings(2));
  pass(1);
  expect(seen).toEqual([...pings(2), 'end']);
});

test('a socket that is closing is not pinged', () => {
  const { seen, socket, pass } = watched(6);
  socket.readyState = 2;
  pass(1 + silentMax);
  expect(seen).toEqual(['ping', 'end']);
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
