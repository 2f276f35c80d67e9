// Who may open a connection, and how many do.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@ringwright/wire/call-channel';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { acceptWire } from './wire-endpoint.ts';

function open(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocket | string> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', ({ message }) => resolve(message));
  });
}

test('no other path, no web page, and one more only when another has gone', async () => {
  const http = createServer();
  const close = acceptWire(http, { handlers: new Map() }, 2);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/wire`;
  try {
    expect(await open(`${url}/x`)).toMatch(/404/);
    expect(await open(url, { origin: 'http://evil.example' })).toMatch(/403/);
    const own = { host: 'evil.example', origin: 'http://evil.example' };
    expect(await open(url, { ...own, 'sec-fetch-site': 'same-origin' })).toMatch(/403/);
    expect(await open(url, { 'sec-fetch-site': 'none' })).toMatch(/403/);
    const [first, second] = [await open(url), await open(url)] as WebSocket[];
    expect(await open(url)).toMatch(/503/);
    const gone = new Promise((resolve) => first?.once('close', resolve));
    first?.close();
    await gone;
    expect(await open(url)).toBeInstanceOf(WebSocket);
    second?.terminate();
  } finally {
    close();
    http.close();
  }
});

test('whoever may nothing here makes room for others, the oldest first', async () => {
  const http = createServer();
  const callers: Caller[] = [];
  const onChannel = (caller: Caller): void => void callers.push(caller);
  const isPowerless = (caller: Caller): boolean => caller !== callers[0];
  const close = acceptWire(http, { handlers: new Map(), onChannel, isPowerless }, 3);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/wire`;
  try {
    const [granted, oldest] = [await open(url), await open(url), await open(url)] as WebSocket[];
    const gone = new Promise((resolve) => oldest?.once('close', resolve));
    expect(await open(url)).toBeInstanceOf(WebSocket);
    await gone;
    for (let at = 0; at < 5; at += 1) expect(await open(url)).toBeInstanceOf(WebSocket);
    expect(granted?.readyState).toBe(WebSocket.OPEN);
  } finally {
    close();
    http.close();
  }
});
