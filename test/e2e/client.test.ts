// The client package against three real servers: the documented examples, levels, sessions, a ring
// change under load, a server that is killed and one that hangs.
import { CodedError } from '@ringwright/base/coded-error';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import type { Bytes } from '@ringwright/client/options';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';

const textOf = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : Buffer.from(bytes).toString();

/** Returns the values of keys that must all be readable. */
async function valuesOf(client: Client, keys: readonly Bytes[]): Promise<(string | null)[]> {
  const outcomes = await client.getMany(keys);
  return outcomes.map((one) => {
    if (!one.ok) throw one.error;
    return textOf(one.record?.value);
  });
}

function addressesOf({ servers }: Cluster): string[] {
  return servers.map(({ address }) => address);
}

/** The possible values of each key: the last acknowledged one, and those whose answer was lost. */
class Ledger {
  readonly #may = new Map<string, Set<string>>();
  unknown = 0;

  /** Any failure other than a lost answer fails the test. */
  async put(client: Client, key: string, value: string): Promise<void> {
    try {
      await client.put(key, value);
      this.#may.set(key, new Set([value]));
    } catch (error) {
      const outcome = error instanceof CodedError ? error.details['outcome'] : null;
      if (outcome !== 'unknown') throw error;
      this.unknown += 1;
      const may = this.#may.get(key) ?? new Set(['null']);
      this.#may.set(key, may.add(value));
    }
  }

  async check(client: Client): Promise<void> {
    const keys = [...this.#may.keys()];
    const values = await valuesOf(client, keys);
    for (const [index, key] of keys.entries()) {
      const found = String(values[index]);
      expect([...this.#may.get(key)!], key).toContain(found);
    }
  }
}

/** Writes in rounds until `work` has ended, at least three. Returns the number of rounds. */
async function writeWhile(client: Client, ledger: Ledger, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let round = 0;
  for (; !isOver || round < 3; round += 1) {
    const keys = Array.from({ length: 40 }, (_, index) => `live${index}`);
    await Promise.all(keys.map((key) => ledger.put(client, key, `${key} of round ${round}`)));
    const [first] = keys;
    expect(await client.get(first!)).not.toBeNull();
  }
  await work;
  return round;
}

test('the examples of the documentation work', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const addresses = addressesOf(cluster);
  await using client = await connect(addresses, { keyspace });

  const stamp = await client.put('shopping', 'milk');
  const record = await client.get('shopping');
  expect(textOf(record?.value)).toBe('milk');
  expect(record?.stamp).toBe(stamp);
  await client.delete('shopping');
  expect(await client.get('shopping')).toBeNull();

  // Calls of one tick share frames, but each has its own outcome.
  const outcomes = await client.putMany([
    ['a', 'one'],
    ['b', new Uint8Array([0, 255])],
    ['c', 'three'],
  ]);
  expect(outcomes.every(({ ok }) => ok)).toBe(true);
  const [a, b, none, empty] = await client.getMany(['a', 'b', 'nothing here', '']);
  expect(a).toMatchObject({ ok: true, record: { value: Buffer.from('one') } });
  expect(b).toMatchObject({ ok: true, record: { value: Buffer.from([0, 255]) } });
  expect(none).toEqual({ ok: true, record: null });
  expect(empty).toMatchObject({ ok: false, error: { code: 'KEY_INVALID' } });

  // A session can continue elsewhere: in another client, or over HTTP.
  await client.put('draft', 'first', { consistency: 'one' });
  expect(client.session).toMatch(/^\d+\.\d+\.\d+\.one$/);
  await using other = await connect(addresses.toReversed(), { keyspace, session: client.session });
  expect(textOf((await other.get('draft', { consistency: 'one' }))?.value)).toBe('first');
  const headers = { 'x-ringwright-session': client.session! };
  for (const port of cluster.ports()) {
    const path = `/v1/${keyspace}/draft?consistency=one`;
    const { bytes, headers: answered } = await askServer(port, { path, headers });
    expect(bytes.toString()).toBe('first');
    expect(String(answered['x-ringwright-session'])).toMatch(/\.one$/);
  }

  // Conditional writes, a time to live, and linearizable operations.
  const lock = await client.put('lock', 'me', { if: 'absent', ttlMs: 30_000 });
  const taken = { code: 'PRECONDITION_FAILED', details: { stamp: lock } };
  await expect(other.put('lock', 'you', { if: 'absent' })).rejects.toMatchObject(taken);
  const held = await other.get('lock', { consistency: 'linearizable' });
  expect([textOf(held?.value), held?.stamp]).toEqual(['me', lock]);
  expect(held!.expiresMs! - Number(lock.split('.')[0])).toBeLessThanOrEqual(30_000);
  const next = await other.put('lock', 'you', { if: lock, consistency: 'linearizable' });
  await expect(client.delete('lock', { if: lock })).rejects.toMatchObject({ code: taken.code });
  await client.delete('lock', { if: next });
  await expect(client.put('lock', 'x', { if: 'present' })).rejects.toMatchObject({
    code: taken.code,
  });
  expect(await client.get('lock')).toBeNull();
  await expect(client.put('lock', 'x', { if: 'soon' })).rejects.toMatchObject({ code: 'USAGE' });

  // Errors have codes.
  await expect(client.put('', 'x')).rejects.toMatchObject({ code: 'KEY_INVALID' });
  await client.close();
  await expect(client.get('a')).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
  const closed = { ok: false, error: { code: 'CLIENT_CLOSED' } };
  expect(await client.getMany(['a', 'b'])).toMatchObject([closed, closed]);
});

test('connect needs one server that answers, and otherwise rejects with a code', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [first = '', second = ''] = addressesOf(cluster);
  // A host name may resolve to an IPv6 and an IPv4 address: both are tried.
  const named = second.replace('127.0.0.1', 'localhost');
  await using client = await connect(['127.0.0.1:1', named], { keyspace });
  await client.put('k', 'v');
  expect(client.ringVersion).toBe(1);
  await expect(connect([], { keyspace })).rejects.toMatchObject({ code: 'USAGE' });
  const away = connect(['127.0.0.1:1'], { keyspace });
  await expect(away).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  const unknown = connect([first], { keyspace: 'unknown' });
  await expect(unknown).rejects.toMatchObject({ code: 'RING_UNKNOWN' });
  const noAddress = connect([first, 'localhost:port'], { keyspace });
  await expect(noAddress).rejects.toMatchObject({ code: 'USAGE' });
  const wrong = connect([first], { keyspace: '../x' });
  await expect(wrong).rejects.toMatchObject({ code: 'NAME_INVALID' });
  const token = connect([first], { keyspace, session: 'yesterday' });
  await expect(token).rejects.toMatchObject({ code: 'SESSION_INVALID' });
});

test('invalid arguments are refused with a code', async () => {
  const cluster = await clusterForTest({ servers: 1, replicas: 1, partitions: 8 });
  const servers = addressesOf(cluster);
  await using client = await connect(servers, { keyspace });
  const foo = 'foo' as 'one';
  const refused: [string, () => Promise<unknown>][] = [
    ['KEY_INVALID', () => client.put('', 'v')],
    ['KEY_INVALID', () => client.delete('')],
    ['CONSISTENCY_INVALID', () => client.put('k', 'v', { consistency: foo })],
    ['CONSISTENCY_INVALID', () => client.get('k', { consistency: foo })],
    ['CONSISTENCY_INVALID', () => connect(servers, { keyspace, consistency: foo })],
    ['VALUE_OUT_OF_RANGE', () => connect(servers, { keyspace, timeoutMs: Infinity })],
    ['VALUE_OUT_OF_RANGE', () => connect(servers, { keyspace, timeoutMs: 0 })],
    ['USAGE', () => connect(servers, { keyspace, token: 'two\nlines' })],
  ];
  for (const [code, call] of refused) {
    const calling = call();
    await expect(calling, call.toString()).rejects.toMatchObject({ code });
  }
  for (const options of [{ partition: 99 }, { partition: 0.5 }, { limit: 2.5 }, { limit: -1 }]) {
    const scan = () => client.scan(options);
    expect(scan).toThrow(expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }));
  }
  // With a line end, as in a token file.
  await using other = await connect(servers, { keyspace, token: `id.${'s'.repeat(43)}\n` });
  expect(await other.get('k')).toBeNull();
});

test('a ring change during writes loses no record, and the client follows the ring', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  await using client = await connect(addressesOf(cluster).slice(0, 1), { keyspace });
  const ledger = new Ledger();
  for (let key = 0; key < 64; key += 1) await client.put(`filler/${key}`, 'x'.repeat(1_000));
  await writeWhile(client, ledger, Promise.resolve());
  const joiner = await cluster.addServer();
  const change = async (): Promise<void> => {
    await cluster.builder.json(['add', keyspace, joiner.text, '1']);
    await cluster.builder.json(['commit', keyspace, '-m', 'a fourth joins']);
    await cluster.push();
    await cluster.builder.json(['rollout', keyspace]);
  };
  await writeWhile(client, ledger, change());
  expect(ledger.unknown, 'no server died: every answer came').toBe(0);
  await ledger.check(client);
  const { bytes } = await askServer(joiner.place.port, { path: '/metrics' });
  expect(bytes.toString()).toMatch(/^ringwright_copied_bytes_total [1-9]\d{3,}$/m);
  const { serving = 0 } = (await joiner.status()).rings[0] ?? {};
  const gauge = `ringwright_partitions{ring="${keyspace}",state="ready"}`;
  expect(bytes.toString()).toContain(`${gauge} ${serving}`);
  const head = await cluster.head();
  await waitFor('the client to follow', {
    ask: async () => {
      await client.get('live0');
      return client.ringVersion;
    },
    until: (version) => version === head.version,
  });
});

test('after a server is killed, reads continue and no acknowledged write is lost', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const addresses = addressesOf(cluster);
  await using client = await connect(addresses, { keyspace });
  const ledger = new Ledger();
  await writeWhile(client, ledger, Promise.resolve());
  const [victim] = cluster.servers;
  await writeWhile(client, ledger, victim!.kill());
  const lost = ledger.unknown;
  // From here on no further answer is lost, because the client knows that the connection is broken.
  await writeWhile(client, ledger, Promise.resolve());
  expect(ledger.unknown).toBe(lost);
  await ledger.check(client);
  await client.put('again', 'sent twice at worst', { repeatUnknown: true });
  await cluster.restart(victim!);
  await victim!.ready();
  await ledger.check(client);
});

test('while a server hangs, reads are answered by another one and writes succeed', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  await using client = await connect(addressesOf(cluster), { keyspace, timeoutMs: 1_000 });
  const keys = Array.from({ length: 60 }, (_, index) => `key${index}`);
  await client.putMany(keys.map((key) => [key, key]));
  const [victim] = cluster.servers;
  victim!.pause();
  try {
    expect(await valuesOf(client, keys)).toEqual(keys);
    const sent = keys.map((key): [string, string] => [key, `${key} again`]);
    const outcomes = await client.putMany(sent, { repeatUnknown: true });
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  } finally {
    victim!.resume();
  }
  expect(await valuesOf(client, keys)).toEqual(keys.map((key) => `${key} again`));
});

test('a server that accepts no connection delays neither connect() nor writes', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const [victim] = cluster.servers;
  victim!.pause();
  try {
    // Nobody waits for this timeout.
    await using client = await connect(addressesOf(cluster), { keyspace, timeoutMs: 600_000 });
    const sent = Array.from({ length: 60 }, (_, index): [string, string] => [`key${index}`, 'v']);
    const outcomes = await client.putMany(sent);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  } finally {
    victim!.resume();
  }
});

test('a weak session gets an error when a read cannot be proved fresh enough', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  await using client = await connect(addressesOf(cluster), { keyspace });
  await client.put('old', 'value');
  await client.put('new', 'value', { consistency: 'one' });
  await using fresh = await connect(addressesOf(cluster), { keyspace });
  const [victim] = cluster.servers;
  await victim!.kill();
  // `old` is older than the session: only all three slots together could show that it is current.
  await expect(client.get('old')).rejects.toMatchObject({ code: 'SESSION_BEHIND' });
  // For a session of quorum operations, every quorum is fresh enough.
  expect(textOf((await fresh.get('old'))?.value)).toBe('value');
  await fresh.put('other', 'value');
  expect(textOf((await fresh.get('old', { consistency: 'one' }))?.value)).toBe('value');
  await cluster.restart(victim!);
  await victim!.ready();
  expect(textOf((await client.get('old'))?.value)).toBe('value');
});
