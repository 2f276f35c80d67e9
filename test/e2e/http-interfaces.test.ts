// HTTP on real servers beyond single keys: tags and conditions, batches, sessions.
import { hostname } from 'node:os';
import { httpBatchBytesMax, valueBytesMax } from '@ringwright/base/limits';
import { waitFor } from '@ringwright/node/wait-for';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askServer, type Response, refusalOf } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  const extra = () => ['--allow-host', 'cities.example', '--allow-host', '.rw.example'];
  cluster = await startCluster({ servers: 3, partitions: 16, extra });
});
afterAll(() => endCluster(cluster));

const at = (key: string, level = 'quorum'): string => `/v1/${keyspace}/${key}?consistency=${level}`;
const port = (index = 0): number => cluster.ports()[index]!;

describe('conditions', () => {
  test('a tag is the stamp of the record and avoids a transfer', async () => {
    const put = await askServer(port(), { method: 'PUT', path: at('tagged'), body: 'milk' });
    const { etag, 'x-ringwright-stamp': stamp } = put.headers;
    expect(etag).toBe(`"${String(stamp)}"`);
    const first = await askServer(port(1), { path: at('tagged') });
    expect([first.status, first.headers.etag]).toEqual([200, etag]);
    for (const method of ['GET', 'HEAD'] as const) {
      const headers = { 'if-none-match': `"0.0.0", ${etag!}` };
      const same = await askServer(port(2), { method, path: at('tagged'), headers });
      expect([same.status, same.headers.etag, same.bytes.length]).toEqual([304, etag, 0]);
    }
    await askServer(port(1), { method: 'PUT', path: at('tagged'), body: 'bread' });
    const changed = await askServer(port(), {
      path: at('tagged'),
      headers: { 'if-none-match': etag },
    });
    expect([changed.status, changed.bytes.toString()]).toEqual([200, 'bread']);
    const other = await askServer(port(), { path: at('tagged'), headers: { 'if-match': etag } });
    expect([other.status, refusalOf(other).code]).toEqual([412, 'PRECONDITION_FAILED']);
    const none = await askServer(port(), { path: at('none'), headers: { 'if-none-match': '*' } });
    expect(none.status).toBe(404);
  });

  test('conditional writes work on any server', async () => {
    const put = (index: number, headers: Record<string, string>, body = 'v') =>
      askServer(port(index), { method: 'PUT', path: at('conditional'), headers, body });
    const created = await put(0, { 'if-none-match': '*' });
    expect(created.status).toBe(204);
    const etag = String(created.headers.etag);
    const again = await put(1, { 'if-none-match': '*' });
    expect([again.status, refusalOf(again).code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect(again.headers.etag, 'what is there instead').toBe(etag);
    const swapped = await put(2, { 'if-match': etag }, 'swapped');
    expect(swapped.status).toBe(204);
    const late = await put(0, { 'if-match': etag }, 'late');
    expect([late.status, late.headers.etag]).toEqual([412, swapped.headers.etag]);
    const remove = { method: 'DELETE', path: at('conditional') } as const;
    const kept = await askServer(port(1), { ...remove, headers: { 'if-match': etag } });
    expect(kept.status).toBe(412);
    expect((await askServer(port(2), { path: at('conditional') })).bytes.toString()).toBe(
      'swapped',
    );
    const headers = { 'if-match': String(swapped.headers.etag) };
    expect((await askServer(port(2), { ...remove, headers })).status).toBe(204);
    const gone = await put(0, { 'if-match': '*' });
    expect([gone.status, gone.headers.etag]).toEqual([412, undefined]);
    const dated = await put(0, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' });
    expect([dated.status, refusalOf(dated).code]).toEqual([501, 'CONDITION_UNSUPPORTED']);
    const all = { method: 'PUT', path: at('conditional', 'all'), body: 'v' } as const;
    const level = await askServer(port(), { ...all, headers: { 'if-none-match': '*' } });
    expect(refusalOf(level).code).toBe('CONSISTENCY_INVALID');
  });

  test('a record expires after its time to live', async () => {
    const path = at('brief');
    const put = await askServer(port(), { method: 'PUT', path: `${path}&ttl=0.3`, body: 'v' });
    const expires = Number(put.headers['x-ringwright-expires']);
    const read = await askServer(port(1), { path });
    // The machine may stall for 0.3 s between the write and the read.
    if (read.status === 200) expect(Number(read.headers['x-ringwright-expires'])).toBe(expires);
    await waitFor('the record to expire', {
      ask: async () => (await askServer(port(2), { path })).status,
      until: (status) => status === 404,
    });
    expect(Date.now()).toBeGreaterThanOrEqual(expires);
    const gone = await askServer(port(), { path });
    expect(gone.headers['x-ringwright-stamp']).toBe(put.headers['x-ringwright-stamp']);
    const again = { method: 'PUT', path, headers: { 'if-none-match': '*' }, body: 'w' } as const;
    expect((await askServer(port(), again)).status, 'what has expired is not there').toBe(204);
    for (const ttl of ['0', '-1', 'soon', '1e3', '99999999999']) {
      const bad = await askServer(port(), { method: 'PUT', path: `${path}&ttl=${ttl}`, body: 'x' });
      expect([ttl, refusalOf(bad).code]).toEqual([ttl, 'VALUE_OUT_OF_RANGE']);
    }
    const headers = { 'x-ringwright-ttl': '60' };
    const two = { method: 'PUT', path: `${path}&ttl=60`, headers, body: 'x' } as const;
    expect(refusalOf(await askServer(port(), two)).code, 'two of them').toBe('USAGE');
    const byHeader = await askServer(port(), { method: 'PUT', path, headers, body: 'x' });
    expect(byHeader.headers['x-ringwright-expires']).toBeDefined();
  });

  test('a linearizable write is read by another server', async () => {
    const path = at('single', 'linearizable');
    expect((await askServer(port(), { method: 'PUT', path, body: 'v' })).status).toBe(204);
    expect((await askServer(port(1), { path })).bytes.toString()).toBe('v');
  });
});

interface Item {
  readonly status: number;
  readonly stamp?: string;
  readonly value64?: string;
  readonly error?: { readonly code: string };
}

const json = { 'content-type': 'application/json' };

function post(batch: unknown, index = 0): Promise<Response> {
  const path = `/v1/_batch/${keyspace}`;
  const body = typeof batch === 'string' ? batch : JSON.stringify(batch);
  return askServer(port(index), { method: 'POST', path, headers: json, body });
}

async function items(batch: readonly unknown[], index = 0): Promise<readonly Item[]> {
  const { status, bytes } = await post({ items: batch }, index);
  expect(status, bytes.toString()).toBe(200);
  return (JSON.parse(bytes.toString()) as { items: readonly Item[] }).items;
}

describe('batches', () => {
  test('a batch of puts, gets and deletes has an answer for each item', async () => {
    const puts = await items([
      { op: 'put', key: 'b1', value: 'text' },
      { op: 'put', key64: 'AAH/', value64: '/wA=' },
      { op: 'put', key: 'b3', value: '' },
    ]);
    expect(puts.map(({ status }) => status)).toEqual([204, 204, 204]);
    const mixed = [
      { op: 'get', key: 'b1' },
      { op: 'get', key64: 'AAH/' },
      { op: 'delete', key: 'b3' },
      { op: 'get', key: 'nothing' },
    ];
    const [b1, binary, gone, none] = await items(mixed, 1);
    expect(b1).toEqual({ status: 200, stamp: puts[0]?.stamp, value64: 'dGV4dA==' });
    expect(binary).toMatchObject({ status: 200, value64: '/wA=' });
    expect(gone?.status).toBe(204);
    expect(none).toMatchObject({ status: 404, error: { code: 'KEY_UNKNOWN' } });
    const single = await askServer(port(2), { path: at('%00%01%ff') });
    expect([...single.bytes]).toEqual([255, 0]);
  });

  test('a batch takes a thousand items', async () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `many${index}`);
    const puts = await items(keys.map((key) => ({ op: 'put', key, value: key })));
    expect(puts.filter(({ status }) => status !== 204)).toEqual([]);
    const gets = await items(
      keys.map((key) => ({ op: 'get', key })),
      2,
    );
    const values = gets.map(({ value64 }) => Buffer.from(value64 ?? '', 'base64').toString());
    expect(values).toEqual(keys);
  });

  test('values beyond what an answer may hold are left for another batch', async () => {
    const value = 'v'.repeat(valueBytesMax);
    const keys = Array.from({ length: 12 }, (_, index) => `large${index}`);
    for (const key of keys) await askServer(port(), { method: 'PUT', path: at(key), body: value });
    const gets = await items(keys.map((key) => ({ op: 'get', key })));
    const whole = gets.filter(({ status }) => status === 200);
    expect(whole).toHaveLength(8);
    const left = gets.filter(({ status }) => status !== 200);
    expect(new Set(left.map(({ error }) => error?.code))).toEqual(new Set(['BATCH_TOO_LARGE']));
  });

  test.each<readonly [string, unknown, number, string]>([
    ['no JSON', '{"items"', 400, 'USAGE'],
    ['an unknown operation', { items: [{ op: 'cas', key: 'a' }] }, 400, 'USAGE'],
    [
      'one bad item among good ones',
      { items: [{ op: 'put', key: 'x1', value: '' }, {}] },
      400,
      'USAGE',
    ],
    ['too large a body', 'x'.repeat(httpBatchBytesMax + 1), 413, 'BATCH_TOO_LARGE'],
  ])('a batch is refused as a whole: %s', async (...[, batch, status, code]) => {
    const refused = await post(batch);
    expect([refused.status, refusalOf(refused).code]).toEqual([status, code]);
    expect((await askServer(port(), { path: at('x1') })).status).toBe(404);
  });

  test('other methods and unknown keyspaces are refused', async () => {
    const get = await askServer(port(), { path: `/v1/_batch/${keyspace}` });
    expect([get.status, refusalOf(get).code]).toEqual([405, 'METHOD_UNKNOWN']);
    const body = '{"items":[{"op":"get","key":"a"}]}';
    const elsewhere = { method: 'POST', path: '/v1/_batch/unknown', headers: json } as const;
    const unknown = await askServer(port(), { ...elsewhere, body });
    expect([unknown.status, refusalOf(unknown).code]).toEqual([503, 'RING_UNKNOWN']);
  });
});

describe('sessions', () => {
  const session = 'x-ringwright-session';

  test('a session reads at level one what another coordinator wrote', async () => {
    for (let round = 0; round < 30; round += 1) {
      const key = `s${round}`;
      const put = await askServer(port(round % 3), { method: 'PUT', path: at(key), body: key });
      const headers = { [session]: String(put.headers[session]) };
      expect(headers[session]).toBe(put.headers['x-ringwright-stamp']);
      const path = at(key, 'one');
      const read = await askServer(port((round + 1) % 3), { path, headers });
      expect(read.bytes.toString()).toBe(key);
      // A read at level one may return a record that only one device holds.
      expect(read.headers[session]).toBe(`${headers[session]!}.one`);
    }
  });

  test('a write is stamped above its session, even on a server whose clock is behind', async () => {
    const ahead = `${Date.now() + 30_000}.7.1`;
    const headers = { [session]: ahead };
    const put = await askServer(port(), { method: 'PUT', path: at('later'), body: 'x', headers });
    const [ms = '', counter] = String(put.headers['x-ringwright-stamp']).split('.');
    expect(Number(ms)).toBe(Number(ahead.split('.')[0]));
    expect(Number(counter)).toBeGreaterThan(7);
  });

  test.each([
    ['ten minutes ahead', () => `${Date.now() + 600_000}.0.1`, 'CLOCK_AHEAD', 409],
    ['a word', () => 'yesterday', 'SESSION_INVALID', 400],
    ['an unknown level', () => '1.2.3.all', 'SESSION_INVALID', 400],
  ])('a session token is refused: %s', async (...[, makeToken, code, status]) => {
    const token = makeToken();
    const headers = { [session]: token };
    const refused = await askServer(port(), { method: 'PUT', path: at('t'), body: 'x', headers });
    expect([refused.status, refusalOf(refused).code]).toEqual([status, code]);
  });
});

test('a server answers to its addresses, its host name and the names it was given', async () => {
  const status = async (host: string): Promise<number> =>
    (await askServer(port(), { path: '/v1/status', headers: { host } })).status;
  for (const host of [`127.0.0.1:${port()}`, hostname(), 'cities.example:80', 'a.rw.example']) {
    expect(await status(host), host).toBe(200);
  }
  expect(await status('evil.example')).toBe(421);
});
