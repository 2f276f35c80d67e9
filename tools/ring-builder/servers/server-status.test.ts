// Tests the errors in place of a status, such as when a program other than ring-server answers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { statusServer } from '../../../test/support/status-server.ts';
import { serverStatus } from './server-status.ts';

test.each([
  [404, '', /^a program other than ring-server answers at 127.0.0.1:\d+ \(HTTP 404\)$/],
  [502, '<html>', /\(HTTP 502\)$/],
  [500, '[]', /\(HTTP 500\)$/],
  [200, '{}', /in an unknown form$/],
  [503, '{"code":"STORE_FAILED","message":"no disk"}', /^no disk$/],
])('HTTP %i with %j becomes an error', async (status, body, message) => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const error: unknown = await serverStatus(address).catch((one: unknown) => one);
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
  if (status !== 503) {
    expect(error).toMatchObject({ code: 'PEER_FAILED', details: { address } });
  }
});

const lies = [
  { address: 'a\nb' },
  { nowMs: 1e300 },
  { logLoss: { ms: 1e300, reason: '' } },
  { tokensUsed: { ada: 1e300 } },
];

test.each(lies)('a status with %j is refused: commands would fail on it', async (lie) => {
  const { port } = await statusServer(() => lie);
  await expect(serverStatus(`127.0.0.1:${port}`)).rejects.toMatchObject({
    code: 'PEER_FAILED',
    message: expect.stringMatching(/in an unknown form$/),
  });
});
