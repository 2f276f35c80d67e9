// Tests the HTTP server over real connections, with a map in place of its coordinator.
import { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { longValueBytesMin } from '@ringwright/base/limits-listeners';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HttpOnMap, statusesOf } from '../../../../test/support/http-on-map.ts';
import { createHttp, type HttpPorts } from './http.ts';
import { answerError } from './http-answer.ts';

const http = new HttpOnMap();
const { rows, bugs, server } = http;
const url = http.url.bind(http);
const talk = http.talk.bind(http);
beforeAll(() => http.listen());
afterAll(() => http.close());
afterEach(() => {
  bugs.length = 0;
});

test('GET returns the stored bytes and the stamp, and HEAD their length', async () => {
  const value = Buffer.from([0, 255, 13, 10]);
  const put = await fetch(url('/v1/cities/a%2Fb'), { method: 'PUT', body: value });
  expect(put.status).toBe(204);
  const got = await fetch(url('/v1/cities/a/b'));
  expect(Buffer.from(await got.arrayBuffer())).toEqual(value);
  const stamp = got.headers.get('x-ringwright-stamp');
  expect(stamp).toBe(put.headers.get('x-ringwright-stamp'));
  const head = await fetch(url('/v1/cities/a/b'), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '4']);
});

test('an empty value is found, and a deleted key gives 404 with a stamp', async () => {
  await fetch(url('/v1/cities/empty'), { method: 'PUT', body: '' });
  expect((await fetch(url('/v1/cities/empty'))).status).toBe(200);
  await fetch(url('/v1/cities/empty'), { method: 'DELETE' });
  const gone = await fetch(url('/v1/cities/empty'));
  expect(gone.status).toBe(404);
  expect(gone.headers.get('x-ringwright-stamp')).toMatch(/^\d+\.\d+\.\d+$/);
  expect(await gone.json()).toMatchObject({ code: 'KEY_UNKNOWN', hint: expect.any(String) });
  const head = await fetch(url('/v1/cities/empty'), { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([404, '']);
});

test.each([
  ['POST', '/v1/status', 405, 'METHOD_UNKNOWN'],
  ['DELETE', '/healthz', 405, 'METHOD_UNKNOWN'],
  ['PUT', '/v1/rings/cities', 405, 'METHOD_UNKNOWN'],
  ['PATCH', '/v1/cities/a', 405, 'METHOD_UNKNOWN'],
  ['POST', '/nothing', 404, 'PATH_UNKNOWN'],
  ['GET', '/v1/cities', 404, 'PATH_UNKNOWN'],
  ['PUT', '/v1/cities/a?tll=60', 400, 'USAGE'],
  ['GET', '/v1/_keys/cities?limit=1&prefx=a', 400, 'USAGE'],
  ['GET', '/v1/cities/a?consistency=one&consistency=all', 400, 'USAGE'],
  ['GET', '/v1/_scan/cities?prefix=a&limit=1&prefix=a', 400, 'USAGE'],
  ['GET', '/v1/_scan/cities?%70refix=a', 400, 'USAGE'],
  ['GET', '/v1/_scan/cities?consistency=linearizable', 400, 'CONSISTENCY_INVALID'],
  ['GET', '/v1/_keys/cities?consistency=linearizable', 400, 'CONSISTENCY_INVALID'],
  ['GET', '/v1/towns/a', 503, 'RING_UNKNOWN'],
  ['GET', '/v1/rings/A', 400, 'NAME_INVALID'],
  ['PUT', '/v1/duty/cities/0', 405, 'METHOD_UNKNOWN'],
  ['GET', '/v1/duty/A/0', 400, 'NAME_INVALID'],
  ['GET', '/v1/duty/towns/0', 503, 'RING_UNKNOWN'],
  ['GET', '/v1/duty/cities', 400, 'VALUE_OUT_OF_RANGE'],
  ['GET', '/v1/duty/cities/-1', 400, 'VALUE_OUT_OF_RANGE'],
  ['GET', '/v1/duty/cities/4', 400, 'VALUE_OUT_OF_RANGE'],
])('%s %s is refused with %i %s', async (...[method, path, status, code]) => {
  const response = await fetch(url(path), { method });
  expect(response.status).toBe(status);
  expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
  expect(await response.json()).toMatchObject({ code, message: expect.any(String) });
  expect(bugs).toEqual([]);
});

test('the duty of a partition is shown for this device and for all its devices', async () => {
  const asked = await fetch(url('/v1/duty/cities/0'));
  expect(await asked.json()).toMatchObject({
    ...{ ring: 'cities', version: 1, partition: 0, minVersion: 1 },
    here: {
      ...{ device: 0, duty: 'SERVE', move: null, pushTo: [] },
      file: { state: 'ready', incarnation: 'i', seq: 7, rows: 2 },
    },
    devices: [{ device: 0, address: '127.0.0.1:6200', duty: 'SERVE', pushTo: [] }],
  });
});

test('an unexpected error is reported here, and the client learns nothing about it', async () => {
  const broken = { ...http.ports, status: { rings: null } } as unknown as HttpPorts;
  const other = createHttp(broken);
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port: otherPort } = other.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${otherPort}/v1/rings/cities`);
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({
    code: 'INTERNAL',
    message: 'the server failed; its log has the reason',
    hint: '',
    details: {},
  });
  expect(bugs).toHaveLength(1);
  other.closeAllConnections();
  other.close();
});

test('a long value is refused while others fill the limit, with a time to try again', async () => {
  const value = Buffer.alloc(longValueBytesMin);
  const put = (body: Uint8Array, headers = {}) =>
    fetch(url('/v1/cities/long'), { method: 'PUT', body, headers });
  const end = http.longWrites.begin(value);
  for (const headers of [{}, { 'if-none-match': '*' }]) {
    const refused = await put(value, headers);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    const details = { outcome: 'rejected' };
    expect(await refused.json()).toMatchObject({ code: 'STORE_BUSY', details });
  }
  expect(rows.has('long')).toBe(false);
  expect((await put(value.subarray(1))).status).toBe(204);
  end?.();
  for (let attempt = 0; attempt < 2; attempt += 1) expect((await put(value)).status).toBe(204);
});

test('too large a value gets 413, and the connection stays usable', async () => {
  const next = 'GET /v1/cities/none HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
  const put = 'PUT /v1/cities/large HTTP/1.1\r\nhost: localhost\r\n';
  const bytes = valueBytesMax + 1;
  const announced = `${put}content-length: ${bytes}\r\n\r\n`;
  const whole = Buffer.concat([Buffer.from(announced), Buffer.alloc(bytes)]);
  const chunk = `${bytes.toString(16)}\r\n`;
  const chunked = Buffer.concat([
    Buffer.from(`${put}transfer-encoding: chunked\r\n\r\n${chunk}`),
    Buffer.alloc(bytes),
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  for (const request of [whole, chunked]) {
    const answers = await talk([request, next]);
    expect(statusesOf(answers)).toEqual(['413', '404']);
    expect(answers).toContain('"code":"VALUE_TOO_LARGE"');
  }
  expect(rows.has('large')).toBe(false);
  const largest = await fetch(url('/v1/cities/large'), {
    method: 'PUT',
    body: Buffer.alloc(valueBytesMax),
  });
  expect(largest.status).toBe(204);
});

const documentOf = (answers: string): unknown =>
  JSON.parse(answers.slice(answers.lastIndexOf('\r\n\r\n')));
const host = 'HTTP/1.1\r\nhost: localhost\r\n';
const large = { code: 'HEADERS_TOO_LARGE', details: { max: 8_192 } };

test.each([
  ['a long header', `GET /healthz ${host}x-long: ${'a'.repeat(9_000)}\r\n\r\n`, '431', large],
  ['a long key', `GET /v1/cities/${'k'.repeat(9_000)} ${host}\r\n`, '431', large],
  ['a very long key', `GET /v1/cities/${'k'.repeat(900_000)} ${host}\r\n`, '431', large],
  ['text that is not HTTP', 'hello\r\n\r\n', '400', { message: expect.stringContaining('method') }],
  // Keys are decoded from ASCII.
  ['a key beyond ASCII', `GET /v1/cities/z\u00fcrich ${host}\r\n`, '400', { code: 'USAGE' }],
  [
    'a malformed chunk',
    `PUT /v1/cities/broken ${host}transfer-encoding: chunked\r\n\r\nno number\r\n`,
    '400',
    { message: expect.stringContaining('chunk') },
  ],
])('%s ends the connection with an error document', async (...[, request, status, document]) => {
  const answers = await talk([request]);
  expect(statusesOf(answers)).toEqual([status]);
  expect(documentOf(answers)).toMatchObject({ hint: expect.stringContaining(' '), ...document });
  expect((await fetch(url('/healthz'))).status).toBe(200);
  expect([bugs, rows.has('broken')]).toEqual([[], false]);
});

test('an unreadable request is answered after the requests before it', async () => {
  const get = `GET /healthz ${host}\r\n`;
  expect(statusesOf(await talk([`${get}${get}hello\r\n\r\n`]))).toEqual(['200', '200', '400']);
  expect(statusesOf(await talk([get, 'hello\r\n\r\n']))).toEqual(['200', '400']);
});

test('a connection reset in the middle of a body is not reported as a bug', async () => {
  const socket = connect(http.port, '127.0.0.1');
  const closed = new Promise((resolve) =>
    server.once('connection', (one) => one.on('close', resolve)),
  );
  socket.write(
    'PUT /v1/cities/half HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf',
  );
  await new Promise((resolve) => server.once('request', resolve));
  socket.resetAndDestroy();
  await closed;
  expect((await fetch(url('/healthz'))).status).toBe(200);
  expect(bugs).toEqual([]);
  expect(rows.has('half')).toBe(false);
});

const upgrade = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
  `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

test('upgrades that are malformed, to other paths or from web pages are refused', async () => {
  const twoHosts = upgrade('/v1/wire', 'host: sd1.example\r\n');
  expect(statusesOf(await talk([twoHosts]))).toEqual(['400']);
  expect(statusesOf(await talk([upgrade('/elsewhere')]))).toEqual(['404']);
  const page = await talk([upgrade('/v1/wire', 'origin: http://evil.example\r\n')]);
  expect(statusesOf(page)).toEqual(['403']);
});

test('an upgrade that is reset at once does not end the server', async () => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const socket = connect(http.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(upgrade(attempt % 2 === 0 ? '/elsewhere' : '/v1/wire'));
    socket.resetAndDestroy();
  }
  expect((await fetch(url('/healthz'))).status).toBe(200);
});

test('pipelined requests of one connection are done in order', async () => {
  rows.clear();
  const put = 'PUT /v1/cities/pp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n';
  const get = 'GET /v1/cities/pp HTTP/1.1\r\nhost: localhost\r\n';
  const last = `${get}connection: close\r\n\r\n`;
  const answers = await talk([`${put}1${get}\r\n${put}2${last}`]);
  expect(statusesOf(answers)).toEqual(['204', '200', '204', '200']);
  expect(answers.match(/\r\n\r\n[12]/g)).toEqual(['\r\n\r\n1', '\r\n\r\n2']);
});

test('an offer to upgrade to another protocol is ignored', async () => {
  await fetch(url('/v1/cities/a'), { method: 'PUT', body: 'v' });
  const head = 'GET /v1/cities/a HTTP/1.1\r\nhost: localhost\r\n';
  const offer = 'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMA\r\n';
  const last = `${head}connection: close\r\n\r\n`;
  expect(statusesOf(await talk([`${head}${offer}\r\n`, last]))).toEqual(['200', '200']);
});

test.each([
  ['http://localhost/v1/cities/a', 200],
  ['HTTP://127.0.0.1:80/healthz', 200],
  ['http://localhost?ring=cities', 404],
  ['http://evil.example/v1/cities/a', 421],
])('the absolute target %s, as proxies send it, gets %i', async (target, status) => {
  await fetch(url('/v1/cities/a'), { method: 'PUT', body: 'v' });
  const request = `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
  expect(statusesOf(await talk([request]))).toEqual([String(status)]);
});

test.each([
  ['PATCH', '/v1/cities/a', 'PUT, GET, HEAD, DELETE'],
  ['DELETE', '/metrics', 'GET, HEAD'],
  ['GET', '/v1/_batch/cities', 'POST'],
  ['HEAD', '/v1/_scan/cities', 'GET'],
  ['POST', '/v1/_inspect/', 'GET'],
])('the 405 answer to %s %s names the allowed methods: %s', async (method, path, allow) => {
  const { status, headers } = await fetch(url(path), { method });
  expect([status, headers.get('allow')]).toEqual([405, allow]);
});

test('a part of a value with a content range is refused and not stored', async () => {
  await fetch(url('/v1/cities/up'), { method: 'PUT', body: 'abcdefghij' });
  const headers = { 'content-range': 'bytes 4-9/10' };
  const end = await fetch(url('/v1/cities/up'), { method: 'PUT', body: 'efghij', headers });
  expect([end.status, await end.json()]).toMatchObject([400, { code: 'USAGE' }]);
  expect(await (await fetch(url('/v1/cities/up'))).text()).toBe('abcdefghij');
});

test.each([
  ['KEY_OVERTAKEN', undefined],
  ['KEY_CONTENDED', 1],
] as const)('%s is answered with retry-after %s', (code, seconds) => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  answerError(response, new CodedError(code, 'because'));
  expect([response.statusCode, response.getHeader('retry-after')]).toEqual([503, seconds]);
});
