// bench:store, one device beside a Redis server that always syncs, with one client for both.
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { type Aim, type Comparison, comparison, withoutPeer } from '../measure/comparison.ts';
import { outputOf } from '../measure/finished-program.ts';
import { inTurn } from '../measure/in-turn.ts';
import { median } from '../measure/median.ts';
import { processCost } from '../measure/process-cost.ts';
import { startBareNode } from '../peers/bare-node.ts';
import {
  type LoadFigures,
  type RedisLoad,
  redisBenchmark,
  redisClients,
  requestsFor,
} from '../peers/redis-benchmark.ts';
import { startRedis } from '../peers/redis-peer.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const partitions = 64;

interface Case {
  readonly op: RedisLoad['op'];
  readonly pipeline: number;
  readonly valueBytes: number;
  readonly aim: Aim | null;
}

// A bare Node process that answers and stores nothing takes turns with both, as the limit.
const smallCases: readonly Case[] = [
  { op: 'set', pipeline: 1, valueBytes: 100, aim: { atLeast: 1 } },
  { op: 'set', pipeline: 16, valueBytes: 100, aim: { atLeast: 0.4 } },
  { op: 'get', pipeline: 1, valueBytes: 100, aim: { atLeast: 0.8 } },
  { op: 'get', pipeline: 16, valueBytes: 100, aim: { atLeast: 0.35 } },
];

const largeCases: readonly Case[] = [
  { op: 'set', pipeline: 1, valueBytes: 1_024, aim: null },
  { op: 'get', pipeline: 1, valueBytes: 1_024, aim: null },
  { op: 'set', pipeline: 1, valueBytes: 65_536, aim: { atLeast: 0.6 } },
  { op: 'get', pipeline: 1, valueBytes: 65_536, aim: { atLeast: 0.6 } },
];

export async function redisSection(settings: StoreSection): Promise<Comparison[]> {
  const seconds = String(settings.sizes.seconds);
  const program = path.join(import.meta.dirname, '../sync-limit.ts');
  const limit = await outputOf(process.execPath, [program, settings.folder, seconds]);
  const { perSecond: syncs } = JSON.parse(limit) as { perSecond: number };
  const rows = await besideRedis(settings, { section: 'redis', cases: smallCases });
  return [
    comparison({
      section: 'redis',
      what: 'the disk: durable writes of 4 KiB',
      unit: '/s',
      figure: syncs,
    }),
    ...rows,
    ...rows
      .filter(({ what, aim }) => what.startsWith('SET') && aim !== null)
      .map((row) => acksPerSync(row, syncs)),
  ];
}

/** Values of 1 and 64 KiB. */
export function redisValues(settings: StoreSection): Promise<Comparison[]> {
  return besideRedis(settings, { section: 'values', cases: largeCases });
}

/** Returns the acknowledged writes per sync that the disk could have done meanwhile. */
function acksPerSync({ section, what, figure }: Comparison, syncs: number): Comparison {
  const beside = { name: 'durable writes/s of the disk', figure: syncs };
  const note = `${redisClients} clients in step could get ${redisClients} per sync`;
  return comparison({
    section,
    what: `${what}: acknowledged per sync`,
    unit: '/s',
    figure,
    beside,
    note,
  });
}

async function besideRedis(
  settings: StoreSection,
  { section, cases }: { readonly section: string; readonly cases: readonly Case[] },
): Promise<Comparison[]> {
  const { folder, sizes, tell } = settings;
  await using cluster = await startCluster(settings, { name: 'one', servers: 1, partitions });
  await using redis = await startRedis(path.join(folder, 'redis-aof'));
  const server = must(cluster.servers[0], 'one server was started');
  const ours = { port: server.redisPort, pid: server.program.pid };
  const rows: Comparison[] = [];
  for (const one of cases) {
    tell(nameOf(one));
    await using bare = await startBareNode(folder, one.valueBytes);
    const sides: Side[] = redis === null ? [ours, bare] : [ours, bare, redis];
    const [mine = [], limit = [], theirs = null] = await alternate(one, sides, sizes);
    rows.push(...rowsOf(section, one, { ours: mine, limit, theirs }));
  }
  return rows;
}

interface Side {
  readonly port: number;
  readonly pid: number;
}

interface Figures extends LoadFigures {
  /** Processor microseconds of the server per request, for all its threads. */
  readonly cpuUs: number;
  /** Bytes given to the file system per byte of keys and values received. */
  readonly writtenPerByte: number;
}

/** redis-benchmark's own keys: `key:` and twelve digits. */
const KEY_BYTES = 16;

async function measured(load: RedisLoad, pid: number): Promise<Figures> {
  const before = await processCost(pid);
  const figures = await redisBenchmark(load);
  const after = await processCost(pid);
  const { requests, valueBytes } = load;
  const cpuUs = (1e6 * (after.cpuSeconds - before.cpuSeconds)) / requests;
  const written = after.writtenBytes - before.writtenBytes;
  return { ...figures, cpuUs, writtenPerByte: written / (requests * (KEY_BYTES + valueBytes)) };
}

async function alternate(
  { op, pipeline, valueBytes }: Case,
  sides: readonly Side[],
  { seconds, rounds, keys }: StoreSection['sizes'],
): Promise<Figures[][]> {
  const load = { op, pipeline, valueBytes, keys };
  // Writes values of this size first, so that they can be read.
  const fill = { ...load, op: 'set', pipeline: 16, requests: fillRequests(load) } as const;
  const sidesWithRequests: (Side & { readonly requests: number })[] = [];
  for (const side of sides) {
    const { port } = side;
    if (load.op === 'get') await redisBenchmark({ ...fill, port });
    sidesWithRequests.push({ ...side, requests: await requestsFor({ ...load, port }, seconds) });
  }
  return inTurn(sidesWithRequests, rounds, ({ port, pid, requests }) =>
    measured({ ...load, port, requests }, pid),
  );
}

/** Enough requests that most keys exist, without writing gigabytes. */
function fillRequests({ valueBytes, keys }: Pick<RedisLoad, 'valueBytes' | 'keys'>): number {
  return Math.ceil((2 * keys) / Math.max(1, valueBytes / 2_048));
}

function nameOf({ op, pipeline, valueBytes }: Case): string {
  const size = valueBytes < 1_024 ? `${valueBytes} bytes` : `${valueBytes / 1_024} KiB`;
  return `${op.toUpperCase()} -P ${pipeline}, ${size}`;
}

interface Sides {
  readonly ours: readonly Figures[];
  /** Figures of a process that stores nothing. */
  readonly limit: readonly Figures[];
  readonly theirs: readonly Figures[] | null;
}

const measures = {
  perSecond: { what: '', unit: '/s' },
  p99Ms: { what: ', p99', unit: 'ms' },
  cpuUs: { what: ', processor of the server', unit: 'us a request' },
  writtenPerByte: { what: ', written', unit: 'bytes per byte stored' },
} as const;

interface RowShape {
  readonly figures?: readonly Figures[];
  /** Name of the measurement, appended to the case. */
  readonly what?: string;
  readonly aim?: Aim | null;
}

function rowsOf(section: string, one: Case, { ours, limit, theirs }: Sides): Comparison[] {
  const row = (name: keyof typeof measures, shape: RowShape = {}): Comparison => {
    const { figures = ours, what = measures[name].what, aim = null } = shape;
    const medianOf = (all: readonly Figures[]): number => median(all.map((figure) => figure[name]));
    const { unit } = measures[name];
    const fields = { section, what: `${nameOf(one)}${what}`, unit, figure: medianOf(figures), aim };
    if (theirs === null) return withoutPeer(fields, 'redis-server');
    return comparison({
      ...fields,
      beside: { name: 'Redis, fsync always', figure: medianOf(theirs) },
    });
  };
  const rows = [
    row('perSecond', { aim: one.aim }),
    row('perSecond', { figures: limit, what: ', Node that stores nothing' }),
    row('p99Ms'),
    row('cpuUs'),
  ];
  const written = row('writtenPerByte');
  // A file system in memory counts none.
  return one.op === 'set' && written.figure > 0 ? [...rows, written] : rows;
}
