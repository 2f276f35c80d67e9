// The client against small servers that answer, refuse, hang up or are not there.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePorts } from '@ringwright/node/free-ports';
import { afterEach, expect, test } from 'vitest';
import { KeyspaceClient } from './keyspace-client.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

function serve(answer: http.RequestListener): Promise<number> {
  const server = http.createServer(answer);
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function clientOf(...ports: number[]): KeyspaceClient {
  const client = new KeyspaceClient('cities', ports);
  open.push(() => client.close());
  return client;
}

test('keys travel percent-encoded, values as they are', async () => {
  const seen: string[] = [];
  const port = await serve((request, response) => {
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => seen.push(chunk));
    request.on('end', () => response.end('ok'));
    seen.push(`${request.method} ${request.url}`);
  });
  await clientOf(port).put('AD/03/Sant Julià/1,2', 'é');
  expect(seen).toEqual(['PUT /v1/cities/AD%2F03%2FSant%20Juli%C3%A0%2F1%2C2', 'é']);
});

test('a server that is not there is passed over, and nothing counts as unanswered', async () => {
  const [nobody = 0] = await freePorts(1);
  const port = await serve((_, response) => response.end('value'));
  const client = clientOf(nobody, port);
  for (let turn = 0; turn < 4; turn += 1) {
    expect(await client.get('a')).toMatchObject({ status: 200, body: 'value', unanswered: 0 });
  }
});

test('a hang-up is an attempt with unknown effect; a refusal is not', async () => {
  let turns = 0;
  const port = await serve((request, response) => {
    turns += 1;
    if (turns === 1) request.socket.destroy();
    else response.writeHead(turns === 2 ? 503 : 200).end();
  });
  expect(await clientOf(port).put('a', 'v')).toMatchObject({ unanswered: 1, refused: 1 });
});

test('what is wrong in itself is not tried again', async () => {
  let turns = 0;
  const port = await serve((_, response) => {
    turns += 1;
    response.writeHead(400).end('{"code":"KEY_INVALID"}');
  });
  await expect(clientOf(port).get('a')).rejects.toThrow(/GET .*: 400 \{"code":"KEY_INVALID"\}/);
  expect(turns).toBe(1);
});

test('no such record is an answer', async () => {
  const port = await serve((_, response) => response.writeHead(404).end());
  expect(await clientOf(port).get('a')).toMatchObject({ status: 404 });
});
