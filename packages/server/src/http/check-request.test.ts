// Tests requests that a web page makes its reader's browser send, as raw requests over a socket,
// and the spellings of a server's name.
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

/** Sends a request on its own connection. Returns the status, the error code and all the text. */
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
  [
    'has the type text/plain',
    { headers: ['content-type: text/plain'] },
    415,
    'CONTENT_TYPE_UNKNOWN',
  ],
  [
    'has the type of a form',
    { headers: ['content-type: application/x-www-form-urlencoded'] },
    ...([415, 'CONTENT_TYPE_UNKNOWN'] as const),
  ],
  [
    'has a type that only begins with application/json',
    { headers: ['content-type: application/jsonp'] },
    ...([415, 'CONTENT_TYPE_UNKNOWN'] as const),
  ],
  ['has no type', {}, 415, 'CONTENT_TYPE_UNKNOWN'],
  [
    'comes from a foreign page',
    { headers: [json, 'origin: http://evil.example'] },
    403,
    'ORIGIN_FOREIGN',
  ],
  ['comes from a sandboxed frame', { headers: [json, 'origin: null'] }, 403, 'ORIGIN_FOREIGN'],
  [
    'comes from a page on another port of this machine',
    { headers: [json, 'origin: http://localhost:3000', 'sec-fetch-site: same-site'] },
    ...([403, 'ORIGIN_FOREIGN'] as const),
  ],
  ['has a rebound host name', { headers: [json, 'host: evil.example:6200'] }, 421, 'HOST_UNKNOWN'],
  [
    'has a rebound host name and its origin',
    { headers: [json, 'host: evil.example', 'origin: http://evil.example'] },
    ...([421, 'HOST_UNKNOWN'] as const),
  ],
])('a batch is refused if it %s', async (...[, sent, status, code]) => {
  const answer = await ask({ line: post, body: batch, ...sent });
  expect(answer).toMatchObject({ status, code });
  expect(answer.text).toMatch(/"hint":"[^"]/);
  expect(http.rows.size).toBe(0);
});

test.each<readonly [string, Sent]>([
  ['is JSON', { headers: [json] }],
  ['is JSON with a charset', { headers: ['Content-Type: Application/JSON; charset=utf-8'] }],
  [
    'comes from a page of this server',
    { headers: [json, 'host: sd1.example:6200', 'origin: http://sd1.example:6200'] },
  ],
])('a batch is answered if it %s', async (_, sent) => {
  expect((await ask({ line: post, body: batch, ...sent })).status).toBe(200);
  expect(http.rows.size).toBe(1);
});

test.each([
  ['PUT', put],
  ['DELETE', 'DELETE /v1/cities/planted HTTP/1.1'],
])('%s with any content type is accepted from programs, not foreign pages', async (_, line) => {
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

test('only IP addresses and the names of the server are accepted as host', async () => {
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

test('requests about the server need one of its names, and /healthz needs none', async () => {
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

test('a foreign page may link to this server, but not show or load its answers', async () => {
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

test('a value is sent with nosniff, so that no browser runs it as a script', async () => {
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
  `${put}\r\nhost: localhost\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
  'PUT /v1/cities/planted HTTP/1.0\r\n\r\nits value',
  'GET\r\n\r\n',
];

test.each(malformed.map((text) => [JSON.stringify(text), text]))(
  'the malformed request %s gets 400 and ends the connection',
  async (_, text) => {
    // The second request would be answered if the connection stayed open.
    const second = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    const answer = await http.talk([text + second]);
    expect(statusesOf(answer)).toEqual(['400']);
    expect(answer).toMatch(/"code":"USAGE".*"hint":"[^"]/);
  },
);

/** Returns a header as Node represents it: one character per byte of UTF-8. */
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

test.each(['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.example'])(
  'a server named %s accepts all spellings of its name',
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

test('a domain with letters beyond ASCII stands for itself and its subdomains', () => {
  const allows = allowedHosts(['.bücher.example']);
  expect(['xn--bcher-kva.example', 'sd1.xn--bcher-kva.example'].map(allows)).toEqual([true, true]);
  expect(allows('evil-xn--bcher-kva.example')).toBe(false);
});

test('a name that has no punycode form allows nothing', () => {
  const allows = allowedHosts(['xn--\u00ff\u0000 \u00fc', '\u00a0 \u2028']);
  for (const host of ['', '.', utf8('ü ü')]) expect(allows(host)).toBe(false);
});
