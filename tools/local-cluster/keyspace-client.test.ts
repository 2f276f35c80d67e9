// The client against small servers that answer, refuse, hang up or are not there.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
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

test('what a batch could not do is asked for alone', async () => {
  const seen: string[] = [];
  const port = await serve((request, response) => void answer(request, response));
  async function answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    const body = await text(request);
    seen.push(`${request.method} ${request.url} ${body}`);
    if (request.method === 'PUT') response.writeHead(204).end();
    else if (request.method === 'GET') response.writeHead(404).end();
    else {
      const { items } = JSON.parse(body) as { items: { op: string; key: string }[] };
      const statusOf = { put: 204, get: 200 } as Record<string, number>;
      const answers = items.map(({ op, key }) =>
        key === 'busy' ? { status: 503 } : { status: statusOf[op], value64: btoa('found') },
      );
      response.end(JSON.stringify({ items: answers }));
    }
  }
  const client = clientOf(port);
  const puts = await client.putAll([
    { key: 'a', value: 'v' },
    { key: 'busy', value: 'w' },
  ]);
  expect(puts).toMatchObject([
    { status: 204, unanswered: 0, refused: 0 },
    { status: 204, unanswered: 0, refused: 1 },
  ]);
  expect(await client.getAll(['busy', 'a'])).toMatchObject([
    { status: 404, refused: 1 },
    { status: 200, body: 'found', refused: 0 },
  ]);
  expect(seen).toEqual([
    'POST /v1/_batch/cities {"items":[{"op":"put","key":"a","value":"v"},{"op":"put","key":"busy","value":"w"}]}',
    'PUT /v1/cities/busy w',
    'POST /v1/_batch/cities {"items":[{"op":"get","key":"busy"},{"op":"get","key":"a"}]}',
    'GET /v1/cities/busy ',
  ]);
});
