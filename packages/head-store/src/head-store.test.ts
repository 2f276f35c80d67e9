// The contract of a head store, for each kind of store.
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { describe, expect, onTestFinished, test } from 'vitest';
import { etcdForFile, etcdHere } from '../../../test/support/etcd-cluster.ts';
import type { HeadStore } from './head-store.ts';
import { openHeadStore } from './open-head-store.ts';

const etcd = etcdForFile();

const kinds: readonly [string, boolean, (name: string) => Promise<string>][] = [
  ['dir', true, async () => `dir:${await mkdtemp(join(tmpdir(), 'ringwright-heads-'))}`],
  ['etcd', etcdHere, async (name) => `${etcd()?.url}/contract-${name}`],
];

for (const [kind, here, urlOf] of kinds) {
  describe.skipIf(!here)(`a head store of kind ${kind}`, () => {
    test('a swap on the newest revision wins, and one on an older revision loses', async () => {
      const store = openHeadStore(await urlOf('swap'));
      expect(await store.read('cities')).toBe(null);
      expect(await store.swap('cities', null, 'a ✓')).toBe('won');
      expect(await store.swap('cities', null, 'b')).toBe('lost');
      const first = await store.read('cities');
      expect(first?.value).toBe('a ✓');
      expect(await store.swap('cities', first?.revision ?? '', 'b')).toBe('won');
      expect(await store.swap('cities', first?.revision ?? '', 'c')).toBe('lost');
      expect((await store.read('cities'))?.value).toBe('b');
      expect(await store.read('towns')).toBe(null);
      expect(await store.swap('towns', first?.revision ?? '', 'x')).toBe('lost');
    });

    test('of twenty swaps on one revision exactly one wins, round after round', async () => {
      const url = await urlOf('race');
      const stores = Array.from({ length: 20 }, () => openHeadStore(url));
      for (let round = 0; round < 5; round += 1) {
        const before = await stores[0]?.read('cities');
        const outcomes = await Promise.all(
          stores.map((one, at) => one.swap('cities', before?.revision ?? null, `${round}/${at}`)),
        );
        expect(outcomes.filter((one) => one === 'won')).toHaveLength(1);
        expect(outcomes.filter((one) => one === 'lost')).toHaveLength(19);
        const winner = `${round}/${outcomes.indexOf('won')}`;
        expect((await stores[7]?.read('cities'))?.value).toBe(winner);
      }
    });

    test('watchers receive what is there and the newest head of each ring', async () => {
      const store = openHeadStore(await urlOf('watch'));
      await store.swap('cities', null, 'old');
      const told = new Map<string, string[]>();
      const stop = store.watch({
        onHead: (ring, value) => void told.set(ring, [...(told.get(ring) ?? []), value]),
        onTrouble: (error) => expect.fail(String(error)),
      });
      const last = (ring: string) => () => told.get(ring)?.at(-1);
      await waitFor('the first head', { ask: last('cities'), until: (seen) => seen === 'old' });
      const { revision } = (await store.read('cities')) ?? { revision: null };
      await store.swap('cities', revision, 'new');
      await store.swap('towns', null, 'first');
      await waitFor('the next head', { ask: last('cities'), until: (seen) => seen === 'new' });
      await waitFor('the other ring', { ask: last('towns'), until: (seen) => seen === 'first' });
      stop();
    });
  });
}

test('a link that is found in the way of itself is no other head', async () => {
  const store = openHeadStore(`dir:${await mkdtemp(join(tmpdir(), 'ringwright-heads-'))}`);
  // As a network file system does that repeats a request whose answer was lost.
  const outcomes = await Promise.all(['a', 'a'].map((value) => store.swap('cities', null, value)));
  expect(outcomes).toEqual(['won', 'won']);
});

test('an unreachable store is reported, and no other URL is taken for a store', async () => {
  const [one, two] = await freePorts(2);
  const away = openHeadStore(`etcd://127.0.0.1:${one},127.0.0.1:${two}`);
  const refused = { code: 'HEAD_STORE_UNREACHABLE' };
  await expect(away.read('cities')).rejects.toMatchObject(refused);
  await expect(away.swap('cities', null, 'x')).rejects.toMatchObject(refused);
  for (const url of ['', 'etcd://', 'etcd://host', 'http://h:1', 'etcd://h:1,/x', 'dir:']) {
    expect(() => openHeadStore(url), url).toThrow('is not the address of a head store');
  }
});

test.each([
  ['a page', '<html>'],
  ['other JSON', '{}'],
  ['a list', '[1, 2]'],
  ['a record without a value', '{"header":{"revision":"5"},"kvs":[{"key":"eA=="}]}'],
])('%s is not taken for the answer of etcd', async (_, answer) => {
  const store = openHeadStore(
    `etcd://${await member((_request, response) => response.end(answer))}`,
  );
  await expect(store.read('cities')).rejects.toMatchObject({
    code: 'HEAD_STORE_UNREACHABLE',
    message: expect.stringMatching(/: another program answers there$/),
  });
});

test('a member that refuses a call is reported with its reason', async () => {
  const refuse: RequestListener = (_, response) => response.writeHead(500).end('out of order');
  const store = openHeadStore(`etcd://${await member(refuse)}`);
  await expect(store.read('cities')).rejects.toThrow(/answered 500: out of order$/);
});

test.skipIf(!etcdHere)('a swap whose answer was lost is won if it was carried out', async () => {
  const [real = ''] = etcd()?.url.slice('etcd://'.length).split(',') ?? [];
  const after = await cutting(real, { forwards: true });
  const before = await cutting(real, { forwards: false });
  const at = (members: string): HeadStore => openHeadStore(`etcd://${members}/cut`);
  expect(await at(after).swap('cities', null, 'one')).toBe('won');
  const { revision = '' } = (await at(real).read('cities')) ?? {};
  // The second member refuses what the first one has done, but the value shows that it was this
  // swap.
  expect(await at(`${after},${real}`).swap('cities', revision, 'two')).toBe('won');
  const second = (await at(real).read('cities'))?.revision ?? '';
  expect(await at(before).swap('cities', second, 'three')).toBe('unknown');
  expect((await at(before).read('cities'))?.value).toBe('two');
});

/** A member that breaks off every swap, before or after carrying it out, and answers all else. */
async function cutting(
  real: string,
  { forwards }: { readonly forwards: boolean },
): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const cut = request.url === '/v3/kv/txn';
    const body = await text(request);
    const asked = { method: 'POST', body };
    const forwarded = forwards || !cut;
    const answered = forwarded ? await fetch(`http://${real}${request.url}`, asked) : null;
    const said = (await answered?.text()) ?? '';
    if (cut) request.socket.destroy();
    else response.end(said);
  };
  return member((request, response) => void answer(request, response));
}

async function member(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  const [port] = await freePorts(1);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${port}`;
}

// The last test, because it leaves etcd with two of three members.
test.skipIf(!etcdHere)(
  'with a member killed, heads are read, swapped and watched',
  async () => {
    const store: HeadStore = openHeadStore(`${etcd()?.url}/killed`);
    const told: string[] = [];
    const stop = store.watch({
      onHead: (_, value) => told.push(value),
      onTrouble: () => undefined,
    });
    expect(await store.swap('cities', null, '0')).toBe('won');
    await etcd()?.kill(0);
    for (let count = 1; count <= 5; count += 1) {
      const found = await waitFor('a leader', {
        ask: () => store.read('cities'),
        until: (seen) => seen?.value === String(count - 1),
      });
      await waitFor('the swap', {
        ask: async () => {
          const outcome = await store.swap('cities', found?.revision ?? null, String(count));
          return outcome === 'won' || (await store.read('cities'))?.value === String(count);
        },
        until: (done) => done,
      });
    }
    await waitFor('the watcher', { ask: () => told.at(-1), until: (seen) => seen === '5' });
    stop();
  },
  60_000,
);
