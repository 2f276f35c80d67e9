// Tests which permissions each HTTP request requires.
import { needText } from '@ringwright/access/need';
import { expect, test } from 'vitest';
import { httpNeeds } from './http-needs.ts';

const table: readonly (readonly [request: string, needs: string, headers?: object])[] = [
  ['GET /healthz', 'nothing'],
  ['GET /readyz', 'nothing'],
  ['GET /v1/status', 'metrics or operator'],
  ['GET /metrics', 'metrics or operator'],
  ['GET /v1/duty/notes/7', 'metrics or operator'],
  ['GET /v1/_inspect/', 'operator'],
  ['GET /v1/_inspect/notes/7', 'operator'],
  ['GET /v1/rings/notes', 'read or write notes'],
  ['POST /v1/_batch/notes', 'read or write notes'],
  ['GET /v1/_keys/notes', 'read all of notes'],
  ['GET /v1/_scan/notes', 'read all of notes'],
  ['GET /v1/_scan/notes?limit=5&prefix=', 'read all of notes'],
  ['GET /v1/_scan/notes?prefix=shop%3A', 'read this key of notes'],
  ['GET /v1/notes/a', 'read this key of notes'],
  ['HEAD /v1/notes/a%2Fb', 'read this key of notes'],
  ['PUT /v1/notes/a', 'write this key of notes'],
  ['DELETE /v1/notes/a', 'write this key of notes'],
  // The answer to a condition reveals what is stored.
  ['PUT /v1/notes/a', 'write this key of notes + read this key of notes', { 'if-match': '*' }],
  [
    'DELETE /v1/notes/a',
    'write this key of notes + read this key of notes',
    { 'if-none-match': '*' },
  ],
  ['GET /v1/constructor/a', 'read this key of constructor'],
  ['PUT /v1/constructor/a', 'write this key of constructor'],
  ['GET /', 'a token'],
  ['GET /v1/notes', 'a token'],
  ['GET //v1/status', 'a token'],
];

test('each path has its required permissions, and an unknown path needs a token', () => {
  for (const [request, needs, headers = {}] of table) {
    const [method = '', path = '', query = ''] = request.split(/[ ?]/);
    const found = httpNeeds(method, { path, query }, { ...headers })
      .map(needText)
      .join(' + ');
    expect([request, found]).toEqual([request, needs]);
  }
});

test('the permission is required for the decoded key', () => {
  const [need] = httpNeeds('GET', { path: '/v1/notes/%61%2e%2e/b', query: '' }, {});
  expect(need).toMatchObject({ kind: 'data', key: Buffer.from('a../b') });
  expect(() => httpNeeds('GET', { path: '/v1/notes/%zz', query: '' }, {})).toThrow();
});

test('the name of a built-in property is not taken for a path', () => {
  for (const [name, code] of [
    ['__proto__', 'NAME_INVALID'],
    ['toString', 'NAME_INVALID'],
    // An empty list of needs would let everybody through.
    ['constructor', 'KEY_INVALID'],
  ]) {
    const ask = () => httpNeeds('GET', { path: `/v1/${name}/`, query: '' }, {});
    expect(ask, name).toThrow(expect.objectContaining({ code }));
  }
});
