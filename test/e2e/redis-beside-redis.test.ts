// Sends the same random commands to a real Redis server and to a ring-server: conditions, expiry
// and their errors are answered alike.
import { spawn } from 'node:child_process';
import { type Random, seededRandom } from '@ringwright/base/random';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { isInstalled, redisCluster } from '../support/redis-server.ts';

const hasRedis = await isInstalled('redis-server');
if (!hasRedis) console.log('redis-server is not installed: nothing to compare with');
const seed = Number(process.env.SEED ?? 1);
const steps = 400;

async function realRedis(): Promise<Redis> {
  const [port = 0] = await freePorts(1);
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  const client = clientOf(port);
  client.on('error', () => undefined); // expected until it listens
  onTestFinished(() => void child.kill('SIGKILL'));
  await waitFor('redis-server to listen', {
    ask: () => client.ping(),
    until: (pong) => pong === 'PONG',
  });
  return client;
}

function clientOf(port: number): Redis {
  const client = new Redis({ port, host: '127.0.0.1' });
  onTestFinished(() => client.disconnect());
  return client;
}

/** Seconds that are far enough apart that no clock difference changes their order. */
const SECONDS = [-5, 0, 1_000, 5_000, 20_000];

const INTEGERS = ['0', '7', '-3', '9223372036854775807', '-9223372036854775808', '05', '-0', '1.5'];

function randomCommand(random: Random): string[] {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const key = pick(['a', 'b', 'c']);
  const value = `v${random.below(5)}`;
  const seconds = pick(SECONDS);
  const absolute = String(Math.floor(Date.now() / 1_000) + seconds);
  const time = (): string[] =>
    pick([
      ['EX', String(seconds)],
      ['PX', String(seconds * 1_000)],
      ['EXAT', absolute],
      ['PXAT', `${absolute}000`],
      ['KEEPTTL'],
      [],
    ]);
  const flags = ['NX', 'XX', 'GET', 'gt', 'LT', 'SOON'];
  const some = (from: readonly string[], most: number): string[] =>
    Array.from({ length: random.below(most + 1) }, () => pick(from));
  const expire = pick(['EXPIRE', 'PEXPIRE', 'EXPIREAT']);
  const unit = { EXPIRE: String(seconds), PEXPIRE: String(seconds * 1_000), EXPIREAT: absolute };
  return pick<() => string[]>([
    () => ['SET', key, value, ...some(flags.slice(0, 3), 2), ...time()],
    () => ['SET', key, value, ...time(), ...some(flags, 1)],
    () => [expire, key, unit[expire as keyof typeof unit], ...some(flags.slice(0, 5), 2)],
    () => ['SETNX', key, value],
    () => [pick(['SETEX', 'PSETEX']), key, String(seconds * 1_000), value],
    () => ['GETSET', key, value],
    () => [pick(['GETDEL', 'PERSIST', 'GET', 'STRLEN']), key],
    () => ['GETEX', key, ...pick([time(), ['PERSIST'], ['PERSIST', 'EX', '5']])],
    () => [pick(['DEL', 'EXISTS', 'TOUCH']), 'a', key],
    () => ['SET', key, pick(INTEGERS)],
    () => [pick(['INCR', 'DECR']), key],
    () => [pick(['INCRBY', 'DECRBY']), key, pick(INTEGERS)],
    () => ['APPEND', key, pick(['1', '0', 'x', ''])],
  ])();
}

async function told(client: Redis, args: readonly string[]): Promise<unknown> {
  const [name = '', ...rest] = args;
  try {
    return await client.call(name, ...rest);
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

test.skipIf(!hasRedis)(
  'random commands are answered as by Redis',
  async () => {
    const theirs = await realRedis();
    const { ports } = await redisCluster({ servers: 1, replicas: 1 });
    const ours = clientOf(ports[0]!);
    const random = seededRandom(seed);
    const hint = `SEED=${seed} vitest run test/e2e/redis-beside-redis.test.ts`;
    const seen = new Set<unknown>();
    for (let step = 0; step < steps; step += 1) {
      const args = randomCommand(random);
      const wanted = await told(theirs, args);
      expect(await told(ours, args), `${hint}: step ${step}: ${args.join(' ')}`).toEqual(wanted);
      seen.add(`${args[0]} ${String(wanted)}`);
      for (const key of ['a', 'b', 'c']) {
        const [left, same] = [await theirs.pttl(key), await ours.pttl(key)];
        const about = `${hint}: PTTL ${key} after step ${step}: ${args.join(' ')}`;
        if (left < 0) expect(same, about).toBe(left);
        else expect(Math.abs(same - left), about).toBeLessThan(500_000);
      }
    }
    expect(seen.size).toBeGreaterThan(40);
  },
  60_000,
);
