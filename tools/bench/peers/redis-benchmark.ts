// redis-benchmark as the client of a server that speaks the Redis protocol.
import { outputOf } from '../measure/finished-program.ts';

export interface RedisLoad {
  readonly port: number;
  readonly op: 'set' | 'get';
  readonly pipeline: number;
  readonly valueBytes: number;
  /** Number of keys to draw from. */
  readonly keys: number;
  readonly requests: number;
}

export interface LoadFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const redisClients = 50;

export async function redisBenchmark(load: RedisLoad): Promise<LoadFigures> {
  const { port, op, pipeline, valueBytes, keys, requests } = load;
  const csv = await outputOf(
    'redis-benchmark',
    [
      ['-p', `${port}`, '-t', op, '-P', `${pipeline}`, '-d', `${valueBytes}`],
      ['-c', `${redisClients}`, '-r', `${keys}`, '-n', `${requests}`, '--csv'],
    ].flat(),
  );
  // "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_...","p99_...","max_..."
  const cells = csv.trim().split('\n').at(-1)?.replaceAll('"', '').split(',').map(Number) ?? [];
  const [, perSecond = 0, , , p50Ms = 0, , p99Ms = 0] = cells;
  if (!(perSecond > 0)) throw new Error(`redis-benchmark printed ${csv}`);
  return { perSecond, p50Ms, p99Ms };
}

/** With fewer, a run may take under a millisecond, which redis-benchmark calls infinitely fast. */
const TRIAL_REQUESTS_MIN = 5_000;

/**
 * Returns the number of requests for about `seconds`, from a short run that warms up the server.
 */
export async function requestsFor(
  load: Omit<RedisLoad, 'requests'>,
  seconds: number,
): Promise<number> {
  const usual = load.keys / 10 / Math.max(1, load.valueBytes / 1_024);
  const trial = Math.max(TRIAL_REQUESTS_MIN, Math.ceil(usual));
  const { perSecond } = await redisBenchmark({ ...load, requests: trial });
  return Math.max(trial, Math.ceil(perSecond * seconds));
}
