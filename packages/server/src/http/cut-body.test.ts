// Tests requests whose bodies end too early or are refused: the server does not wait for the rest,
// and no request stays open.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { valueBytesMax } from '@ringwright/base/limits';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HttpOnMap, statusesOf } from '../../../../test/support/http-on-map.ts';

const http = new HttpOnMap();
beforeAll(() => http.listen());
afterAll(() => http.close());

const put = 'PUT /v1/cities/cut HTTP/1.1\r\nhost: localhost\r\n';

async function nextRequest(): Promise<IncomingMessage> {
  const [request] = (await once(http.server, 'request')) as [IncomingMessage];
  return request;
}

test('a client that closes in the middle of a body leaves no request open', async () => {
  const begun = nextRequest();
  const socket = connect(http.port, '127.0.0.1');
  socket.write(`${put}content-length: 100\r\n\r\nhalf`);
  const request = await begun;
  socket.end();
  await once(socket.resume(), 'close');
  await vi.waitFor(() => expect(request.closed).toBe(true), 3_000);
  expect([http.bugs, http.rows.has('cut')]).toEqual([[], false]);
});

test('too large a value leaves no request open, whether its end has come or not', async () => {
  const bytes = valueBytesMax + 1;
  const head = `${put}transfer-encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`;
  const value = Buffer.concat([Buffer.from(head), Buffer.alloc(bytes)]);
  const whole = Buffer.concat([value, Buffer.from('\r\n0\r\n\r\n')]);
  for (const sent of [whole, value]) {
    const begun = nextRequest();
    expect(statusesOf(await http.talk([sent]))).toEqual(['413']);
    const request = await begun;
    await vi.waitFor(() => expect(request.closed).toBe(true), 3_000);
  }
});
