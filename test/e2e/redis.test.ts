// The Redis protocol of real servers: over a bare socket, ioredis, redis-cli and redis-benchmark.
import path from 'node:path';
import {
  peerQueueBytesMax,
  redisPipelineMax,
  redisRequestBytesMax,
  ttlMsMax,
  valueBytesMax,
} from '@ringwright/base/limits';
import { seededRandom } from '@ringwright/base/random';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { keyspace } from '../support/cluster.ts';
import { isInstalled, RawConnection, redisCluster, runProgram } from '../support/redis-server.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const hasTools = await isInstalled('redis-cli');
if (!hasTools)
  console.log('redis-cli and redis-benchmark are not installed: their tests are skipped');

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const request = (...args: string[]): string => `*${args.length}\r\n${args.map(bulk).join('')}`;

function ioredisTo(port: number): Redis {
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true });
  onTestFinished(() => client.disconnect());
  return client;
}

describe('commands', () => {
  test('a pipeline is answered in order, wherever it is cut', async () => {
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    await using connection = await RawConnection.to(ports[0]!);
    const sent = [
      request('SET', 'a', '1'),
      request('GET', 'a'),
      request('SET', 'a', '2'),
      request('SET', 'a', '3'),
      request('MGET', 'a', 'b', 'a'),
      request('DEL', 'a', 'b'),
      request('SET', 'a', '4'),
      'PING "hello there"\r\n',
      request('EXISTS', 'a', 'a', 'b'),
      request('NOPE', 'x\r\ny'),
      request('GET'),
      request('STRLEN', 'a'),
    ].join('');
    const wanted = [
      '+OK\r\n',
      bulk('1'),
      '+OK\r\n+OK\r\n',
      `*3\r\n${bulk('3')}$-1\r\n${bulk('3')}`,
      ':1\r\n',
      '+OK\r\n',
      bulk('hello there'),
      ':2\r\n',
      "-ERR unknown command 'NOPE', with args beginning with: 'x  y' \r\n",
      "-ERR wrong number of arguments for 'get' command\r\n",
      ':1\r\n',
    ].join('');
    expect(await connection.ask(sent, wanted)).toBe(wanted);
    for (const size of [1, 2, 3, 7, 31]) {
      for (let at = 0; at + size < sent.length; at += size)
        connection.send(sent.slice(at, at + size));
      const last = sent.slice(sent.length - (sent.length % size || size));
      expect(await connection.ask(last, wanted), `${size} bytes at once`).toBe(wanted);
    }
    // Everything at once, on a connection that then sends nothing more.
    await using closing = await RawConnection.to(ports[0]!);
    closing.send(sent.repeat(100));
    closing.finish();
    expect(await closing.rest()).toBe(wanted.repeat(100));
  });

  test('bad and oversized requests are refused, and slow readers delay nobody else', async () => {
    const { cluster, ports } = await redisCluster({ servers: 1, replicas: 1 });
    const [port = 0] = ports;
    const told = async (bytes: string | Uint8Array): Promise<string> => {
      await using connection = await RawConnection.to(port);
      connection.send(bytes);
      return await connection.rest(); // before the connection is disposed of
    };
    expect(await told('*1\r\nx')).toBe("-ERR Protocol error: expected '$', got 'x'\r\n");
    expect(await told(`${request('PING')}*99999999\r\n`)).toBe(
      '+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n',
    );
    const long = request('SET', 'a', 'v'.repeat(valueBytesMax + 1));
    expect(await told(`${long}${request('PING')}${request('QUIT')}`)).toBe(
      `-ERR an argument of ${valueBytesMax + 1} bytes; the maximum is ${valueBytesMax}\r\n+PONG\r\n+OK\r\n`,
    );
    const longer = `*3\r\n${bulk('SET')}${bulk('a')}$${redisRequestBytesMax}\r\n`;
    expect(await told(longer)).toContain('-ERR Protocol error: a request of more than');
    const [years, over] = [ttlMsMax / 1000, ttlMsMax / 1000 + 1].map(String);
    expect(await told(`${request('SET', 'a', '1', 'EX', years!)}${request('QUIT')}`)).toBe(
      '+OK\r\n+OK\r\n',
    );
    expect(await told(`${request('EXPIRE', 'a', over!)}${request('QUIT')}`)).toBe(
      "-ERR invalid expire time in 'expire' command\r\n+OK\r\n",
    );
    // Without the key, Redis checks only the form of the expiry, not its value.
    const getex = [['0'], ['x'], ['x', 'y']].map((time) => request('GETEX', 'none', 'EX', ...time));
    expect(
      await told(`${getex.join('')}${request('GETEX', 'a', 'EX', '0')}${request('QUIT')}`),
    ).toBe(
      "$-1\r\n$-1\r\n-ERR syntax error\r\n-ERR invalid expire time in 'getex' command\r\n+OK\r\n",
    );
    expect(await told('POST /v1/notes/a HTTP/1.1\r\n')).toBe('');
    expect(await told(request('QUIT'))).toBe('+OK\r\n');

    // A client that does not read delays only itself.
    await using slow = await RawConnection.to(port);
    const value = 'v'.repeat(valueBytesMax);
    expect(await slow.ask(request('SET', 'large', value), '+OK\r\n')).toBe('+OK\r\n');
    slow.stopReading();
    const count = redisPipelineMax + 50;
    slow.send(request('GET', 'large').repeat(count));
    await using other = await RawConnection.to(port);
    expect(await other.ask(request('STRLEN', 'large'), `:${valueBytesMax}\r\n`)).toBe(
      `:${valueBytesMax}\r\n`,
    );
    slow.readOn();
    slow.finish();
    expect((await slow.rest()).length).toBe(count * bulk(value).length);
    const { bytes } = await askServer(cluster.ports()[0]!, { path: '/metrics' });
    expect(bytes.toString()).toContain('ringwright_redis_protocol_errors_total 4');
  });

  test('all long values are returned, even if more are requested than may be queued', async () => {
    const { ports } = await redisCluster({ servers: 4, replicas: 2 });
    const client = ioredisTo(ports[0]!);
    const value = Buffer.alloc(valueBytesMax, 'v');
    for (let key = 0; key < 20; key += 1) await client.set(`long${key}`, value);
    const pipeline = client.pipeline();
    const count = (12 * peerQueueBytesMax) / valueBytesMax;
    for (let key = 0; key < count; key += 1) pipeline.getBuffer(`long${key % 20}`);
    const answers = (await pipeline.exec()) ?? [];
    const wrong = answers.filter(([, found]) => !(found instanceof Buffer && found.equals(value)));
    expect([answers.length, wrong]).toEqual([count, []]);
  });

  test('a long pipeline is answered in full even if its first answer is late', async () => {
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    await using connection = await RawConnection.to(ports[0]!);
    const pings = 2 * redisPipelineMax;
    connection.send(request('getset', 'key', 'v') + request('ping').repeat(pings));
    connection.finish();
    expect(await connection.rest()).toBe(`$-1\r\n${'+PONG\r\n'.repeat(pings)}`);
  });

  test('random commands with random words are all answered without a server failure', async () => {
    const { cluster, ports } = await redisCluster({ servers: 1, replicas: 1 });
    const client = ioredisTo(ports[0]!);
    const names = (await client.call('COMMAND', 'LIST')) as string[];
    expect(names.length).toBeGreaterThan(30);
    const shapes = [
      '0',
      '-1',
      '1',
      'a',
      '',
      '*',
      'match',
      'count',
      'ex',
      '9'.repeat(20),
      '[^',
      '\\',
    ];
    const seed = 11;
    const random = seededRandom(seed);
    const sent = Array.from({ length: 3_000 }, () => {
      const name = names[random.below(names.length)]!;
      const args = Array.from({ length: random.below(6) }, () =>
        random.below(8) === 0
          ? 'x'.repeat(random.below(3_000))
          : shapes[random.below(shapes.length)]!,
      );
      return name === 'quit' ? request('ping') : request(name, ...args);
    });
    await using connection = await RawConnection.to(ports[0]!);
    connection.send(sent.join(''));
    // The random commands may have left a refused MULTI, which DISCARD ends.
    connection.send(request('DISCARD') + request('ECHO', 'the end'));
    connection.finish();
    const answers = await connection.rest();
    expect(answers.endsWith(bulk('the end')), `seed ${seed}`).toBe(true);
    expect(answers).not.toContain('the server failed');
    const failures = cluster.servers[0]!.logLines().filter(({ level }) => level === 'error');
    expect(failures, `seed ${seed}`).toEqual([]);
  });

  test('an expired key is absent from reads, listings and counts', async () => {
    const { ports } = await redisCluster({ servers: 3, replicas: 3 });
    const [first, second] = ports.map(ioredisTo);
    await first!.set('kept', 'v');
    await first!.set('brief', 'v', 'PX', 150);
    await first!.setex('long', 1_000, 'v');
    expect(await second!.ttl('long')).toBeGreaterThan(900);
    await waitFor('the key to expire', {
      ask: () => second!.exists('brief'),
      until: (count) => count === 0,
    });
    expect(await second!.dbsize()).toBe(2);
    expect((await second!.scan(0, 'COUNT', 100))[1].sort()).toEqual(['kept', 'long']);
    expect([await first!.ttl('brief'), await first!.pttl('kept')]).toEqual([-2, -1]);
    expect(await second!.setnx('brief', 'again')).toBe(1);
  });

  test('changes that depend on the value are atomic across all servers', async () => {
    const { ports } = await redisCluster({ servers: 3, replicas: 3 });
    const clients = ports.map(ioredisTo);
    const taken = await Promise.allSettled(
      clients.map((client) => client.set('lock', 'x', 'PX', 60_000, 'NX')),
    );
    // On a busy machine a command may be overtaken and says so, but the lock is never taken twice.
    const known = taken.filter(({ status }) => status === 'fulfilled');
    const got = known.filter((one) => 'value' in one && one.value === 'OK');
    expect(got.length).toBeLessThanOrEqual(1);
    if (known.length === taken.length) expect(got).toHaveLength(1);
    const swaps = Array.from({ length: 12 }, (_, index) =>
      clients[index % 3]!.getset('chain', `${index}`),
    );
    const olds = (await Promise.allSettled(swaps)).flatMap((swap) =>
      swap.status === 'fulfilled' ? [swap.value] : [],
    );
    // On a busy machine some are overtaken and say so, but no value is replaced twice.
    expect(olds.length).toBeGreaterThan(5);
    expect(new Set(olds).size).toBe(olds.length);
    expect(olds).not.toContain(await clients[0]!.get('chain'));
    for (let round = 0; round < 20; round += 1) {
      await clients[0]!.set('once', 'x');
      const deleted = await Promise.allSettled(
        [0, 0, 1, 2].map((index) => clients[index]!.del('once')),
      );
      const told = deleted.filter((one) => 'value' in one && one.value === 1);
      expect(told.length, `round ${round}`).toBeLessThanOrEqual(1);
      if (deleted.every(({ status }) => status === 'fulfilled')) expect(told).toHaveLength(1);
    }
    const [client] = clients;
    await client!.call('RINGWRIGHT.CONSISTENCY', 'all');
    await expect(client!.setnx('other', 'x')).rejects.toThrow('decided by a quorum');
    await client!.call('RINGWRIGHT.CONSISTENCY', 'linearizable');
    await client!.set('other', 'y');
    expect(await client!.get('other')).toBe('y');
  });
});

test('increments through two servers at once add up to their sum', async () => {
  const { ports } = await redisCluster({ servers: 3, replicas: 3 });
  const clients = ports.map(ioredisTo);
  const [first, second, third] = clients;
  await third!.set('count', '100', 'EX', 1_000);
  const adds = Array.from({ length: 40 }, (_, index) => [first, second][index % 2]!.incr('count'));
  const added = await Promise.allSettled(adds);
  const totals = added.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(new Set(totals).size, 'no total is told twice').toBe(totals.length);
  // On a busy machine an increment may be overtaken and says so: whether it counts is unknown.
  const unknown = added.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  for (const reason of unknown) expect(reason).toMatch(/OVERTAKEN/);
  const count = Number(await third!.get('count'));
  expect(count).toBeGreaterThanOrEqual(100 + totals.length);
  expect(count).toBeLessThanOrEqual(140);
  expect(await third!.ttl('count')).toBeGreaterThan(900);
  await first!.set('text', 'x'.repeat(valueBytesMax - 1));
  expect(await second!.append('text', 'y')).toBe(valueBytesMax);
  await expect(first!.append('text', 'z')).rejects.toThrow('ERR string exceeds maximum');
  expect(await third!.strlen('text')).toBe(valueBytesMax);
});

test('a Redis port in use ends the start with LISTEN_FAILED', async () => {
  const { cluster, ports } = await redisCluster({ servers: 1, replicas: 1 });
  const [port = 0] = await freePorts(1);
  const data = path.join(cluster.folder, 'second');
  const second = new ServerUnderTest({ device: 'second', zone: 1, port, data });
  second.spawn(['--redis-port', String(ports[0])]);
  expect(await second.exited()).toBe(4);
  expect(second.logText()).toContain('LISTEN_FAILED');
  expect(second.logText()).toContain(`127.0.0.1:${ports[0]}`);
});

describe('ioredis', () => {
  test('strings, binary values, pipelines and errors work as with Redis', async () => {
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    const client = ioredisTo(ports[0]!);
    expect(await client.ping()).toBe('PONG');
    const value = Buffer.from([0, 13, 10, 255]);
    await client.set('binary', value);
    expect(await client.getBuffer('binary')).toEqual(value);
    await client.mset({ a: '1', b: '2', ü: 'ö' });
    expect(await client.mget('a', 'ü', 'none')).toEqual(['1', 'ö', null]);
    const valueOf = (index: number) => `${index % 10 === 3 ? 'long '.repeat(5_000) : ''}${index}`;
    const pipeline = client.pipeline();
    for (let index = 0; index < 1_000; index += 1) {
      pipeline.set(`p${index % 10}`, valueOf(index)).get(`p${index % 10}`);
    }
    const answers = (await pipeline.exec()) ?? [];
    for (let index = 0; index < 1_000; index += 1) {
      expect(answers[2 * index]).toEqual([null, 'OK']);
      expect(answers[2 * index + 1]).toEqual([null, valueOf(index)]);
    }
    expect(await client.type('a')).toBe('string');
    expect(await client.del('a', 'a', 'b', 'none')).toBe(2);
    expect(await client.info()).toContain('redis_version:7');
    await expect(client.lpush('list', 'x')).rejects.toThrow("ERR unknown command 'lpush'");
    await expect(client.set('', 'x')).rejects.toThrow('ERR a key of 0 bytes');
  });

  test('SCAN returns every key, even if a cursor is used at another server', async () => {
    const { ports } = await redisCluster({ servers: 3, replicas: 3 });
    const client = ioredisTo(ports[0]!);
    const other = ioredisTo(ports[1]!);
    const keys = Array.from({ length: 500 }, (_, index) => `user:${index}`);
    await client.mset(Object.fromEntries(keys.map((key) => [key, 'x'])));
    await client.set('else', 'x');
    const found = new Set<string>();
    const stream = client.scanStream({ match: 'user:*', count: 7 });
    for await (const page of stream) for (const key of page as string[]) found.add(key);
    expect([...found].sort()).toEqual(keys.toSorted());
    expect(await client.dbsize()).toBe(501);
    const again = new Set<string>();
    let [cursor, turn] = ['0', 0];
    do {
      // Each call goes to the other server, which does not know the positions of the cursor.
      const [next, page] = await [client, other][turn++ % 2]!.scan(cursor, 'COUNT', 7);
      expect(turn, 'calls of a scan that does not end').toBeLessThan(200);
      for (const key of page) again.add(key);
      cursor = next;
    } while (cursor !== '0');
    expect(again.size).toBe(501);
  });

  test('keyspaces and levels can be selected, and unsupported commands are refused', async () => {
    const { cluster, ports } = await redisCluster({ servers: 3, replicas: 3 });
    const [one, two] = [ioredisTo(ports[0]!), ioredisTo(ports[1]!)];
    await one.set('a', 'by one');
    expect(await two.get('a'), 'read by another coordinator').toBe('by one');
    expect(await one.call('RINGWRIGHT.CONSISTENCY')).toBe('quorum');
    expect(await one.call('RINGWRIGHT.CONSISTENCY', 'all')).toBe('OK');
    expect(await one.call('RINGWRIGHT.CONSISTENCY')).toBe('all');
    await expect(one.call('RINGWRIGHT.CONSISTENCY', 'most')).rejects.toThrow('most');
    expect(await one.call('SELECT', keyspace)).toBe('OK');
    expect(await one.get('a')).toBe('by one');
    await expect(one.select(1)).rejects.toThrow(
      /^ERR DB index is out of range: .*SELECT takes names of rings$/,
    );
    await expect(one.set('a', 'elsewhere')).rejects.toThrow("no ring '1' is here");
    await one.select(0);
    expect(await one.get('a')).toBe('by one');
    const transaction = one.multi().set('a', 'in MULTI').exec();
    await expect(transaction).rejects.toThrow('EXECABORT');
    expect(await one.get('a')).toBe('by one');
    await expect(one.auth('secret')).rejects.toThrow('without any password');
    const [, , victim] = cluster.servers;
    await victim!.kill();
    await expect(one.set('a', 'x')).rejects.toThrow(
      /^NOREPLICAS \d of 3 slots.* a write may still appear/,
    );
    expect(await two.set('a', 'at quorum')).toBe('OK');
    expect(await two.get('a')).toBe('at quorum');
    await victim!.start(['--redis-port', String(ports[2])]);
    await victim!.ready();
  });

  test('HELLO switches to version 3 of the protocol', async () => {
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    await using connection = await RawConnection.to(ports[0]!);
    expect(await connection.ask(request('GET', 'none'), '$-1\r\n')).toBe('$-1\r\n');
    connection.send(request('HELLO', '4') + request('HELLO', '3') + request('GET', 'none'));
    connection.send(request('CONFIG', 'GET', 'save') + request('QUIT'));
    const answers = await connection.rest();
    const hello = '%8\r\n$6\r\nserver\r\n$5\r\nredis\r\n';
    expect(answers).toContain(`-NOPROTO unsupported protocol version\r\n${hello}`);
    expect(answers.endsWith('_\r\n%1\r\n$4\r\nsave\r\n$0\r\n\r\n+OK\r\n')).toBe(true);
  });
});

describe.skipIf(!hasTools)('Redis programs', () => {
  test('redis-cli reads, writes, scans and pipes', async () => {
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    const cli = (args: readonly string[], stdin = ''): Promise<string> =>
      runProgram('redis-cli', ['-p', String(ports[0]), ...args], stdin);
    expect(await cli(['set', 'a b', 'c d'])).toBe('OK\n');
    expect(await cli(['get', 'a b'])).toBe('c d\n');
    expect(await cli(['-3', 'get', 'none'])).toBe('\n');
    expect(await cli([], 'set x 1\nget x\ndel x\nget x\n')).toBe('OK\n1\n1\n\n');
    expect(await cli(['-n', '0', '--scan', '--pattern', 'a*'])).toBe('a b\n');
    expect(await cli(['info', 'clients'])).toContain('connected_clients:1');
    expect(await cli(['command', 'docs'])).toBe('\n');
    const pipe = await cli(['--pipe'], request('SET', 'p', '1').repeat(1_000));
    expect(pipe).toContain('errors: 0, replies: 1000');
  });

  test('redis-benchmark ends without errors, with and without pipelining', async () => {
    const { cluster, ports } = await redisCluster({ servers: 1, replicas: 1 });
    for (const depth of ['1', '16']) {
      const load = ['-c', '20', '-n', '2000', '-P', depth, '-d', '100', '-r', '500'];
      const args = ['-p', String(ports[0]), '-t', 'ping,set,get,incr,mset', ...load, '--csv'];
      const lines = (await runProgram('redis-benchmark', args)).trim().split('\n');
      expect(lines).toHaveLength(7);
    }
    const { bytes } = await askServer(cluster.ports()[0]!, { path: '/metrics' });
    expect(bytes.toString()).toContain(
      'ringwright_redis_command_duration_seconds_count{command="set"} 4000',
    );
    expect(bytes.toString()).not.toContain('command="unknown"');
  });
});
