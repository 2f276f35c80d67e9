// Requests that must be refused: with a code, a status, a sentence, a hint, and nothing changed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer, type Request, refusalOf } from '../support/ask-server.ts';
import { type Cluster, keyspace, startCluster } from '../support/cluster.ts';

let cluster: Cluster;
let port = 0;
beforeAll(async () => {
  cluster = await startCluster({ servers: 3, partitions: 8 });
  port = cluster.ports()[0] ?? 0;
  const path = `/v1/${keyspace}/there?consistency=all`;
  await askServer(port, { method: 'PUT', path, body: 'before' });
});
afterAll(() => cluster[Symbol.asyncDispose]());

async function rowsOfAll(): Promise<number[]> {
  const statuses = await Promise.all(cluster.servers.map((server) => server.status()));
  return statuses.map(({ rings }) => rings[0]?.rows ?? 0);
}

const tooLong = 'k'.repeat(1_025);
const tooMuch = Buffer.alloc(2 ** 20 + 1);

const refused: [name: string, request: Request, status: number, code: string, names: RegExp][] = [
  ['an unknown ring', { path: '/v1/other/key' }, 404, 'RING_UNKNOWN', /other/],
  ['a name no ring may have', { path: '/v1/NOTES/key' }, 400, 'NAME_INVALID', /NOTES/],
  ['a percent sign alone', { path: `/v1/${keyspace}/100%` }, 400, 'KEY_INVALID', /%/],
  ['a bad escape', { path: `/v1/${keyspace}/a%G1b` }, 400, 'KEY_INVALID', /%G1/],
  ['an escape cut short', { path: `/v1/${keyspace}/a%4` }, 400, 'KEY_INVALID', /%4/],
  ['no key', { path: `/v1/${keyspace}/` }, 400, 'KEY_INVALID', /0 bytes/],
  ['a key too long', { path: `/v1/${keyspace}/${tooLong}` }, 400, 'KEY_INVALID', /1025.*1024/],
  [
    'a key that is too long only when decoded is not longer in the path',
    { path: `/v1/${keyspace}/${'%6B'.repeat(1_025)}` },
    400,
    'KEY_INVALID',
    /1025.*1024/,
  ],
  [
    'a level of another system',
    { path: `/v1/${keyspace}/there?consistency=two` },
    400,
    'CONSISTENCY_INVALID',
    /two/,
  ],
  [
    'an empty level',
    { path: `/v1/${keyspace}/there?consistency=` },
    400,
    'CONSISTENCY_INVALID',
    /''/,
  ],
  [
    'a write with a bad level',
    { method: 'PUT', path: `/v1/${keyspace}/there?consistency=ALL`, body: 'after' },
    400,
    'CONSISTENCY_INVALID',
    /ALL/,
  ],
  [
    'a value too long',
    { method: 'PUT', path: `/v1/${keyspace}/there`, body: tooMuch },
    413,
    'VALUE_TOO_LARGE',
    /1048577.*1048576/,
  ],
  [
    'a method that is none of the four',
    { method: 'POST', path: `/v1/${keyspace}/there`, body: 'after' },
    405,
    'METHOD_UNKNOWN',
    /POST/,
  ],
  ['a path that is nothing', { path: '/v2/there' }, 404, 'PATH_UNKNOWN', /\/v2\/there/],
  ['an unknown ring resource', { path: '/v1/rings/other' }, 404, 'RING_UNKNOWN', /other/],
];

test.each(refused)('%s is refused', async (_, request, status, code, names) => {
  const before = await rowsOfAll();
  const response = await askServer(port, request);
  expect(response.status, response.bytes.toString()).toBe(status);
  expect(response.headers['content-type']).toContain('application/json');
  const refusal = refusalOf(response);
  expect(refusal.code).toBe(code);
  expect(refusal.message).toMatch(names);
  expect(Object.keys(refusal).sort()).toEqual(['code', 'details', 'hint', 'message']);
  expect(refusal.hint, 'a hint').not.toBe('');
  const there = await askServer(port, { path: `/v1/${keyspace}/there` });
  expect(there.bytes.toString()).toBe('before');
  expect(await rowsOfAll()).toEqual(before);
});

test('a value that grows too long on the way is refused, and the server goes on', async () => {
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if ((sent += 1) > 40) controller.close();
      else controller.enqueue(Buffer.alloc(64 * 1_024));
    },
  });
  const url = `http://127.0.0.1:${port}/v1/${keyspace}/there`;
  const answer = await fetch(url, { method: 'PUT', body, duplex: 'half' });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ code: 'VALUE_TOO_LARGE' });
  expect(await (await fetch(url)).text()).toBe('before');
});
