// Tests which servers count as away when a plan asks for sizes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { askSizes } from './known-sizes.ts';

async function answering(status: number, body: object): Promise<string> {
  const server = createServer((_, response) =>
    response.writeHead(status).end(JSON.stringify(body)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a server that refuses the token is not away, but an unreachable server is', async () => {
  const refusal = { code: 'ACCESS_PENDING', message: 'it has no access document yet' };
  const well = { address: 'a', ready: true, rings: [], refusals: [] };
  const addresses = [await answering(200, well), await answering(401, refusal), '127.0.0.1:1'];
  const targets = addresses.map((address, id) => ({ address, devices: [id], required: true }));
  const { away, answered, statuses, isAway } = await askSizes('cities', targets);
  expect(away.map(({ address }) => address)).toEqual(['127.0.0.1:1']);
  expect([answered, statuses.size]).toEqual([1, 1]);
  expect([0, 1, 2].map(isAway)).toEqual([false, false, true]);
});
