// What web pages make a browser send to a server of its reader, as raw requests over a socket; and
// the spellings of a server's name.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HttpOnMap, statusesOf } from '../../../../test/support/http-on-map.ts';
import { allowedHosts } from './check-request.ts';

const http = new HttpOnMap(['sd1.example', '.rw.example']);
beforeAll(() => http.listen());
afterAll(() => http.close());
afterEach(() => {
  expect(http.bugs).toEqual([]);
  http.rows.clear();
});

interface Sent {
  readonly line?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** One request on a connection of its own; the status, the code of a refusal, and all that came. */
async function ask({ line = 'GET /v1/cities/a HTTP/1.1', headers = [], body = '' }: Sent) {
  const isNamed = line.endsWith('1.0') || headers.some((header) => /^host:/i.test(header));
  const own = isNamed ? [] : ['host: localhost'];
  const length = body === '' ? [] : [`content-length: ${body.length}`];
  const head = [line, ...own, ...headers, ...length, 'connection: close'].join('\r\n');
  const text = await http.talk([`${head}\r\n\r\n${body}`]);
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
  return { status: Number(statusesOf(text)[0] ?? 0), code, text };
}

const batch = '{"items":[{"op":"put","key":"planted","value":"x"}]}';
const post = 'POST /v1/_batch/cities HTTP/1.1';
const json = 'content-type: application/json';
const put = 'PUT /v1/cities/planted HTTP/1.1';

test.each<readonly [string, Sent, number, string]>([
  ['a batch as text/plain', { headers: ['content-type: text/plain'] }, 415, 'CONTENT_TYPE_UNKNOWN'],
  [
    'a form',
    { headers: ['content-type: application/x-www-form-urlencoded'] },
    ...([415, 'CONTENT_TYPE_UNKNOWN'] as const),
  ],
  [
    'a type that only begins like it',
    { headers: ['content-type: application/jsonp'] },
    ...([415, 'CONTENT_TYPE_UNKNOWN'] as const),
  ],
  ['a batch without a type', {}, 415, 'CONTENT_TYPE_UNKNOWN'],
  ['a page elsewhere', { headers: [json, 'origin: http://evil.example'] }, 403, 'ORIGIN_FOREIGN'],
  ['a sandboxed frame', { headers: [json, 'origin: null'] }, 403, 'ORIGIN_FOREIGN'],
  [
    'a page on another port of this machine',
    { headers: [json, 'origin: http://localhost:3000', 'sec-fetch-site: same-site'] },
    ...([403, 'ORIGIN_FOREIGN'] as const),
  ],
  ['a name bound anew', { headers: [json, 'host: evil.example:6200'] }, 421, 'HOST_UNKNOWN'],
  [
    'a name bound anew, with the origin of its own',
    { headers: [json, 'host: evil.example', 'origin: http://evil.example'] },
    ...([421, 'HOST_UNKNOWN'] as const),
  ],
])('a batch is refused: %s', async (...[, sent, status, code]) => {
  const answer = await ask({ line: post, body: batch, ...sent });
  expect(answer).toMatchObject({ status, code });
  expect(answer.text).toMatch(/"hint":"[^"]/);
  expect(http.rows.size).toBe(0);
});

test.each<readonly [string, Sent]>([
  ['JSON', { headers: [json] }],
  ['JSON with a charset', { headers: ['Content-Type: Application/JSON; charset=utf-8'] }],
  [
    'a page of this server',
    { headers: [json, 'host: sd1.example:6200', 'origin: http://sd1.example:6200'] },
  ],
])('a batch is answered: %s', async (_, sent) => {
  expect((await ask({ line: post, body: batch, ...sent })).status).toBe(200);
  expect(http.rows.size).toBe(1);
});

test.each([
  ['PUT', put],
  ['DELETE', 'DELETE /v1/cities/planted HTTP/1.1'],
])('%s of any content type from programs, never from a page elsewhere', async (_, line) => {
  const body = line === put ? 'x' : '';
  const pages = [
    ['origin: http://evil.example'],
    ['origin: null', 'content-type: text/plain'],
    ['sec-fetch-site: cross-site', 'sec-fetch-mode: no-cors'],
    ['sec-fetch-site: same-site'],
    ['host: localhost.evil.example'],
    ['host: 127.0.0.1.evil.example:6200'],
    ['host: [::1].evil.example'],
    ['host: evil.example@127.0.0.1'],
    ['host:'],
  ];
  for (const headers of pages) {
    const { status } = await ask({ line, headers, body });
    expect([403, 421], headers.join()).toContain(status);
  }
  expect(http.rows.size).toBe(0);
  expect((await ask({ line, headers: ['content-type: x/y'], body })).status).toBe(204);
});

test('names that are its own, and addresses, which no page can bind', async () => {
  const own = [
    'localhost',
    'LocalHost.:6200',
    'x.localhost',
    '127.0.0.1:1',
    '10.1.2.3',
    '[::1]:6200',
  ];
  for (const name of [...own, 'SD1.example', 'rw.example', 'a.b.rw.example:80']) {
    expect((await ask({ headers: [`host: ${name}`] })).status, name).toBe(404);
  }
  for (const name of [
    'sd2.example',
    'xrw.example',
    'sd1.example.evil',
    'example',
    'a, localhost',
  ]) {
    expect((await ask({ headers: [`host: ${name}`] })).code, name).toBe('HOST_UNKNOWN');
  }
});

test('what tells of the server is for its names too; whether one is there is for all', async () => {
  for (const path of [
    '/v1/status',
    '/metrics',
    '/readyz',
    '/v1/rings/cities',
    '/v1/_keys/cities',
  ]) {
    const answer = await ask({ line: `GET ${path} HTTP/1.1`, headers: ['host: evil.example'] });
    expect(answer.code, path).toBe('HOST_UNKNOWN');
  }
  const health = await ask({ line: 'GET /healthz HTTP/1.1', headers: ['host: any.example'] });
  expect(health.status).toBe(200);
  expect((await ask({ line: 'GET /v1/rings/cities HTTP/1.0' })).status).toBe(200);
});

test('a link to this server may be followed, no page elsewhere may show or load it', async () => {
  const at = (mode: string, dest: string): Sent => ({
    line: 'GET /v1/rings/cities HTTP/1.1',
    headers: ['sec-fetch-site: cross-site', `sec-fetch-mode: ${mode}`, `sec-fetch-dest: ${dest}`],
  });
  expect((await ask(at('navigate', 'document'))).status).toBe(200);
  for (const [mode, dest] of [
    ['navigate', 'iframe'],
    ['no-cors', 'script'],
    ['cors', 'empty'],
  ] as const) {
    expect((await ask(at(mode, dest))).code, dest).toBe('ORIGIN_FOREIGN');
  }
  const form = { ...at('navigate', 'document'), line: post, body: batch };
  expect((await ask(form)).code).toBe('ORIGIN_FOREIGN');
});

test('a value is no script, whatever it holds', async () => {
  await ask({ line: 'PUT /v1/cities/a HTTP/1.1', body: 'alert(1)' });
  expect((await ask({})).text).toMatch(/x-content-type-options: nosniff\r\n/i);
});

const malformed: readonly string[] = [
  'GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: localhost\r\nHOST: evil.example\r\n\r\n',
  'GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz\r\n\r\n',
  'GET /healthz HTTP/0.9\r\n\r\n',
  'GET /healthz HTTP/2.0\r\nhost: localhost\r\n\r\n',
  'GET /healthz HTTP/9.9\r\nhost: localhost\r\n\r\n',
  'get /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'GET\t/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n',
  ' GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'GET healthz HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'GET /healthz HTTP/1.1\nhost: localhost\n\n',
  'GET /healthz HTTP/1.1\r\nhost : localhost\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: localhost\r\n folded: x\r\n\r\n',
  'GET\r\n\r\n',
];

test.each(malformed.map((text) => [JSON.stringify(text), text]))(
  '%s: 400, and closed',
  async (_, text) => {
    // The second request would be answered if the connection went on.
    const second = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    expect(statusesOf(await http.talk([text + second]))).toEqual(['400']);
  },
);

/** As Node gives a header of these bytes. */
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

test.each(['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.example'])(
  'a server called %s answers to all spellings of it',
  (name) => {
    const allows = allowedHosts([name]);
    const spellings = ['xn--bcher-kva.example', 'XN--BCHER-KVA.example.:6200', 'bücher.example'];
    for (const host of spellings) expect(allows(utf8(host)), host).toBe(true);
    expect(allows(utf8('bücher.example:6200'))).toBe(true);
    for (const host of ['bucher.example', 'x.bücher.example', 'xn--bcher-kva.evil.example', '']) {
      expect(allows(utf8(host)), host).toBe(false);
    }
  },
);

test('a domain of such letters stands for all that is below it', () => {
  const allows = allowedHosts(['.bücher.example']);
  expect(['xn--bcher-kva.example', 'sd1.xn--bcher-kva.example'].map(allows)).toEqual([true, true]);
  expect(allows('evil-xn--bcher-kva.example')).toBe(false);
});

test('what is no name in punycode allows nothing', () => {
  const allows = allowedHosts(['xn--\u00ff\u0000 \u00fc', '\u00a0 \u2028']);
  for (const host of ['', '.', utf8('ü ü')]) expect(allows(host)).toBe(false);
});
