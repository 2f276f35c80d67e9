// Reads and writes of keys through every coordinator of real servers, at every level.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ servers: 4, partitions: 16 });
});
afterAll(() => endCluster(cluster));

const stampHeader = 'x-ringwright-stamp';
const at = (key: string, level?: string): string =>
  `/v1/${keyspace}/${key}${level === undefined ? '' : `?consistency=${level}`}`;

async function put(port: number, path: string, body: string | Uint8Array): Promise<string> {
  const { status, headers, bytes } = await askServer(port, { method: 'PUT', path, body });
  expect(status, bytes.toString()).toBe(204);
  return String(headers[stampHeader]);
}

test('every coordinator reads what another one wrote, with the same stamp', async () => {
  for (const [index, port] of cluster.ports().entries()) {
    const stamp = await put(port, at(`k${index}`), `written over ${port}`);
    for (const other of cluster.ports()) {
      const { status, headers, bytes } = await askServer(other, { path: at(`k${index}`) });
      expect(status).toBe(200);
      expect(bytes.toString()).toBe(`written over ${port}`);
      expect(headers[stampHeader]).toBe(stamp);
    }
  }
});

test.each([['one'], ['quorum'], ['all']])('writes and deletes work at level %s', async (level) => {
  const [a = 0, b = 0] = cluster.ports();
  await put(a, at(`level-${level}`, level), 'first');
  await put(b, at(`level-${level}`, level), 'second');
  const read = await askServer(a, { path: at(`level-${level}`, 'all') });
  expect(read.bytes.toString()).toBe('second');
  const gone = await askServer(a, { method: 'DELETE', path: at(`level-${level}`, level) });
  expect(gone.status).toBe(204);
  const after = await askServer(b, { path: at(`level-${level}`, 'all') });
  expect(after.status).toBe(404);
  expect(refusalOf(after).code).toBe('KEY_UNKNOWN');
  expect(after.headers[stampHeader]).toBe(gone.headers[stampHeader]);
  await put(b, at(`level-${level}`, level), 'again');
  expect((await askServer(a, { path: at(`level-${level}`, 'all') })).bytes.toString()).toBe(
    'again',
  );
});

test.each([
  ['a slash stays as it is', 'a/b/c', 'a%2Fb%2fc'],
  ['two slashes and a dot are key bytes', 'a//../b', 'a%2f%2f%2e%2e%2fb'],
  ['a percent sign', '100%25', '%31%30%30%25'],
  ['a question mark', 'what%3F', '%77hat%3f'],
  ['UTF-8', 'caf%C3%A9', '%63af%c3%a9'],
  ['zero bytes and bytes that are no UTF-8', '%00%ff%FE%00', '%00%FF%fe%00'],
])('keys are bytes: %s', async (_, written, read) => {
  const [a = 0, b = 0] = cluster.ports();
  await put(a, at(written), `value of ${written}`);
  const { status, bytes } = await askServer(b, { path: at(read) });
  expect(status).toBe(200);
  expect(bytes.toString()).toBe(`value of ${written}`);
});

test('keys that differ in case, encoding or a trailing slash are different keys', async () => {
  const [a = 0] = cluster.ports();
  const keys = ['Name', 'name', 'name/', 'name%2520', 'name%20'];
  for (const key of keys) await put(a, at(key), key);
  for (const key of keys) {
    expect((await askServer(a, { path: at(key) })).bytes.toString()).toBe(key);
  }
});

test('values are bytes: empty, binary, and up to the maximum length', async () => {
  const [a = 0, b = 0] = cluster.ports();
  const binary = Uint8Array.from({ length: 2 ** 20 }, (_, index) => (index * 7) % 256);
  for (const value of [new Uint8Array(0), binary.subarray(0, 257), binary]) {
    await put(a, at('binary'), value);
    const { status, headers, bytes } = await askServer(b, { path: at('binary') });
    expect(status).toBe(200);
    expect(headers['content-length']).toBe(String(value.length));
    expect(bytes.equals(value)).toBe(true);
  }
});

test('a value sent in chunks of unknown total length is stored whole', async () => {
  const [port = 0] = cluster.ports();
  const body = new ReadableStream({
    start(controller) {
      for (const part of ['one ', 'two ', 'three']) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });
  const url = `http://127.0.0.1:${port}${at('chunked')}`;
  const answer = await fetch(url, { method: 'PUT', body, duplex: 'half' });
  expect(answer.status).toBe(204);
  expect(await (await fetch(url)).text()).toBe('one two three');
});

test('HEAD returns length and stamp without a body', async () => {
  const [a = 0, b = 0] = cluster.ports();
  const stamp = await put(a, at('head'), 'twelve bytes');
  const there = await askServer(b, { method: 'HEAD', path: at('head') });
  expect(there.status).toBe(200);
  expect(there.headers['content-length']).toBe('12');
  expect(there.headers[stampHeader]).toBe(stamp);
  expect(there.bytes).toHaveLength(0);
  const missing = await askServer(b, { method: 'HEAD', path: at('no-such-head') });
  expect(missing.status).toBe(404);
  expect(missing.bytes).toHaveLength(0);
});

test('a key of the maximum length is stored', async () => {
  const [a = 0, b = 0] = cluster.ports();
  const key = 'k'.repeat(1_024);
  await put(a, at(key), 'long');
  expect((await askServer(b, { path: at(key) })).bytes.toString()).toBe('long');
});

test('racing writers get an acknowledgement or SUPERSEDED, and the newest stamp wins', async () => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const port = cluster.ports()[index % 4] ?? 0;
      const response = await askServer(port, {
        method: 'PUT',
        path: at('raced'),
        body: `${index}`,
      });
      return { index, response };
    }),
  );
  const acked = answers.filter(({ response }) => response.status === 204);
  const others = answers.filter(({ response }) => response.status !== 204);
  expect(acked.length).toBeGreaterThan(0);
  for (const { response } of others) {
    expect(response.status).toBe(409);
    const { code, details } = refusalOf(response);
    expect(code).toBe('SUPERSEDED');
    expect(Object.keys(details).sort()).toEqual(['newer', 'stamp']);
  }
  const final = await askServer(cluster.ports()[0] ?? 0, { path: at('raced', 'all') });
  const winner = acked.find(
    ({ response }) => response.headers[stampHeader] === final.headers[stampHeader],
  );
  if (winner !== undefined) expect(final.bytes.toString()).toBe(String(winner.index));
  for (const port of cluster.ports()) {
    const read = await askServer(port, { path: at('raced') });
    expect(read.headers[stampHeader]).toBe(final.headers[stampHeader]);
  }
});
