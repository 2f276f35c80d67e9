// Invalid requests are refused with a code, a status, a message and a hint, and change nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer, type Request, refusalOf } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';

let cluster: Cluster;
let port = 0;
beforeAll(async () => {
  cluster = await startCluster({ servers: 3, partitions: 8 });
  port = cluster.ports()[0] ?? 0;
  const path = `/v1/${keyspace}/there?consistency=all`;
  await askServer(port, { method: 'PUT', path, body: 'before' });
});
afterAll(() => endCluster(cluster));

async function rowsOfAll(): Promise<number[]> {
  const statuses = await Promise.all(cluster.servers.map((server) => server.status()));
  return statuses.map(({ rings }) => rings[0]?.rows ?? 0);
}

interface Case {
  readonly name: string;
  readonly request: Request;
  readonly status: number;
  readonly code: string;
  /** What the message must mention. */
  readonly names: RegExp;
}

const key = (rest: string): Request => ({ path: `/v1/${keyspace}/${rest}` });
const badKey = (name: string, rest: string, names: RegExp): Case => {
  return { name, request: key(rest), status: 400, code: 'KEY_INVALID', names };
};
const badLevel = (name: string, request: Request, names: RegExp): Case => {
  return { name, request, status: 400, code: 'CONSISTENCY_INVALID', names };
};
const unknown = (name: string, path: string, code: string): Case => {
  return { name, request: { path }, status: 404, code, names: new RegExp(path.split('/')[2]!) };
};

const refused: Case[] = [
  { ...unknown('an unknown ring', '/v1/other/key', 'RING_UNKNOWN'), status: 503 },
  unknown('a path that is nothing', '/v2/there', 'PATH_UNKNOWN'),
  {
    ...unknown('an unknown ring resource', '/v1/rings/other', 'RING_UNKNOWN'),
    ...{ status: 503, names: /other/ },
  },
  { ...unknown('no ring name', '/v1/NOTES/key', 'NAME_INVALID'), status: 400 },
  badKey('a percent sign alone', '100%', /'%'/),
  badKey('a bad escape', 'a%G1b', /'%G1'/),
  badKey('an escape cut short', 'a%4', /'%4'/),
  badKey('no key', '', /0 bytes/),
  badKey('a key too long', 'k'.repeat(1_025), /1025.*1024/),
  badKey('a key too long, escaped', '%6B'.repeat(1_025), /1025.*1024/),
  badLevel('an unknown level', key('there?consistency=two'), /'two'/),
  badLevel('an empty level', key('there?consistency='), /''/),
  badLevel(
    'a write at a level in capitals',
    { ...key('there?consistency=ALL'), method: 'PUT', body: 'after' },
    /'ALL'/,
  ),
  {
    name: 'a value too long',
    request: { ...key('there'), method: 'PUT', body: Buffer.alloc(2 ** 20 + 1) },
    status: 413,
    code: 'VALUE_TOO_LARGE',
    names: /1048577.*1048576/,
  },
  {
    name: 'a method that is none of the four',
    request: { ...key('there'), method: 'POST', body: 'after' },
    status: 405,
    code: 'METHOD_UNKNOWN',
    names: /POST/,
  },
];

test.each(refused)('$name is refused', async ({ request, status, code, names }) => {
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

test('a streamed value over the size limit is refused, and the server keeps serving', async () => {
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
