// Calls as JavaScript programs make them: an argument of the wrong type is refused by name.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Client } from './client.ts';
import { connect } from './connect.ts';
import type { RingFollower } from './ring-follower.ts';

/** Passes what the types forbid. */
const wrong = (content: unknown): never => content as never;

/** A client of a server that stores whatever it receives. */
function clientThatStores() {
  const stored: unknown[] = [];
  const call = (_: unknown, request: unknown): Promise<unknown> => {
    stored.push(request);
    return Promise.resolve({ ms: 1, tie: 0, ringVersion: 1, record: null });
  };
  const follower = {
    ring: { partitionOf: () => 0 },
    choose: () => ['a'],
    openFirst: () => Promise.resolve({ address: 'a', channel: { call } }),
    noteRingVersion: () => undefined,
  } as unknown as RingFollower;
  const settings = { keyspace: 'notes', session: null, timeoutMs: 1, smearMs: 0 };
  return { stored, client: new Client(follower, { ...settings, consistency: 'quorum' }) };
}

test.each<readonly [string, unknown]>([
  ['Uint16Array', new Uint16Array([1, 2, 256])],
  ['Array', [1, 2]],
  ['Object', { length: 3 }],
  ['String', Object('text')],
  ['ArrayBuffer', new ArrayBuffer(2)],
  ['number', 5],
  ['null', null],
  ['undefined', undefined],
])('type %s is refused as a key and as a value', async (type, content) => {
  const { stored, client } = clientThatStores();
  const refusal = (name: string) => ({
    code: 'USAGE',
    message: `the ${name} is of type ${type}, wanted a string or a Uint8Array`,
  });
  await expect(client.put('k', wrong(content))).rejects.toMatchObject(refusal('value'));
  await expect(client.put(wrong(content), 'v')).rejects.toMatchObject(refusal('key'));
  await expect(client.get(wrong(content))).rejects.toMatchObject(refusal('key'));
  await expect(client.delete(wrong(content))).rejects.toMatchObject(refusal('key'));
  const [many] = await client.getMany([wrong(content)]);
  expect(many).toMatchObject({ ok: false, error: refusal('key') });
  const from = () => client.scan({ from: wrong(content) });
  if (content !== undefined) expect(from).toThrow(expect.objectContaining(refusal('bound')));
  expect(stored).toEqual([]);
});

test('strings, byte arrays and buffers are accepted as keys and values', async () => {
  const { stored, client } = clientThatStores();
  for (const content of ['é', new Uint8Array([195, 169]), Buffer.from('é')]) {
    await client.put(content, content, wrong({ ttlMs: 5, if: undefined }));
  }
  const asked = stored as readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  for (const { key, value } of asked) {
    expect([key, value].map((part) => Buffer.from(part).toString())).toEqual(['é', 'é']);
  }
  expect(asked).toHaveLength(3);
});

test('the hint of an empty key is written for programs', async () => {
  const refusal = { code: 'KEY_INVALID', hint: 'name a key; one byte is enough' };
  await expect(clientThatStores().client.get('')).rejects.toMatchObject(refusal);
});

test.each([
  {
    what: 'a port for Redis',
    message: /it closed the connection, .* or a Redis port does$/,
    hint: /\bca$/,
  },
  { what: 'a web server', message: /a program other than .* \(HTTP 404\)$/, hint: /--listen/ },
])('a failed connect() to $what names its own options', async ({ what, message, hint }) => {
  const notFound = 'HTTP/1.1 404 Not Found\r\n\r\n';
  const server = createServer((socket) => {
    socket.once('data', () =>
      what === 'a web server' ? socket.end(notFound) : socket.resetAndDestroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const error: unknown = await connect([`127.0.0.1:${port}`], { keyspace: 'notes' }).catch(
    (one: unknown) => one,
  );
  expect(error).toMatchObject({
    message: expect.stringMatching(message) as string,
    hint: expect.stringMatching(hint) as string,
  });
  expect(JSON.stringify(error)).not.toContain('ring-builder');
});

test('half of a surrogate pair is refused', async () => {
  const { client } = clientThatStores();
  const refusal = { code: 'USAGE', hint: 'pass bytes that are not text as a Uint8Array' };
  await expect(client.put('k', '\ud800')).rejects.toMatchObject(refusal);
  await expect(client.get('\udfff')).rejects.toMatchObject(refusal);
});

test('unknown options and options of the wrong type are refused', async () => {
  const { stored, client } = clientThatStores();
  const calls: (readonly [string, () => unknown])[] = [
    ['put() has no option ttl', () => client.put('k', 'v', wrong({ ttl: 5 }))],
    ['put() has no option constructor', () => client.put('k', 'v', wrong({ constructor: 1 }))],
    ['delete() has no option ttlMs', () => client.delete('k', wrong({ ttlMs: 5 }))],
    ['get() has no option session', () => client.get('k', wrong({ session: null }))],
    ['scan() has no option prefx', () => client.scan(wrong({ prefx: 'a' }))],
    ['scan() has no option \\u001b[2J', () => client.scan(wrong({ '\u001b[2J': 'a' }))],
    ['unknown condition "\\u009b2J"', () => client.put('k', 'v', { if: '\u009b2J' })],
    [
      'the option ttlMs of put() is of type string, wanted a number',
      () => client.put('k', 'v', wrong({ ttlMs: '5' })),
    ],
    [
      'the option if of put() is of type number, wanted a string',
      () => client.put('k', 'v', wrong({ if: 5 })),
    ],
    [
      'the option reverse of scan() is of type string, wanted true or false',
      () => client.scan(wrong({ reverse: 'false' })),
    ],
    [
      'the last argument of put() is of type null, wanted an object',
      () => client.put('k', 'v', wrong(null)),
    ],
    ['the list of keys is of type string, wanted a list', () => client.getMany('keys')],
    ['the list of entries is of type Object, wanted a list', () => client.putMany(wrong({ k: 1 }))],
  ];
  for (const [message, call] of calls) {
    const calling = (async () => call())();
    await expect(calling, message).rejects.toMatchObject({ code: 'USAGE', message });
  }
  const hint = 'put() takes consistency, if, repeatUnknown, ttlMs, smearMs';
  await expect(client.put('k', 'v', wrong({ ttl: 5 }))).rejects.toMatchObject({ hint });
  const [entry] = await client.putMany([wrong({ key: 'k', value: 'v' })]);
  expect(entry).toMatchObject({ ok: false, error: { code: 'USAGE' } });
  expect(stored).toEqual([]);
});

test('connect() refuses invalid arguments before it contacts a server', async () => {
  const keyspace = 'notes';
  const calls: (readonly [string, string, () => unknown])[] = [
    ['USAGE', 'addresses is of type string', () => connect(wrong('localhost'), { keyspace })],
    ['USAGE', 'addresses is of type undefined', () => connect(wrong(undefined), { keyspace })],
    ['USAGE', 'addresses is of type Array', () => connect(wrong([6201]), { keyspace })],
    ['USAGE', 'needs at least one address', () => connect([], { keyspace })],
    ['USAGE', 'argument of connect() is of type undefined', () => connect([], wrong(undefined))],
    ['USAGE', 'no option timeout', () => connect([], wrong({ keyspace, timeout: 5 }))],
    ['USAGE', 'option token of connect()', () => connect([], wrong({ keyspace, token: 5 }))],
    ['USAGE', 'option session of connect()', () => connect([], wrong({ keyspace, session: 5 }))],
    ['USAGE', 'option deviceKeys of', () => connect([], wrong({ keyspace, deviceKeys: 'a' }))],
    ['USAGE', 'option reader of', () => connect([], wrong({ keyspace, reader: 'a' }))],
    ['NAME_INVALID', 'keyspace name ""', () => connect(['localhost'], wrong({}))],
  ];
  for (const [code, part, call] of calls) {
    const calling = (async () => call())();
    const message = expect.stringContaining(part);
    await expect(calling, part).rejects.toMatchObject({ code, message });
  }
});
