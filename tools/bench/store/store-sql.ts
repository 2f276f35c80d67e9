// bench:store, three devices with three replicas at quorum, beside databases that acknowledge a
// write when a second machine has it: PostgreSQL with a synchronous standby, and MariaDB Galera.
import path from 'node:path';
import { runLoad } from '../load/load-run.ts';
import { type Comparison, comparison, withoutPeer } from '../measure/comparison.ts';
import { inTurn } from '../measure/in-turn.ts';
import { median } from '../measure/median.ts';
import { treeCost } from '../measure/process-cost.ts';
import { startGalera } from '../peers/galera-trio.ts';
import { startPostgres } from '../peers/postgres-pair.ts';
import { type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { SqlLoad, SqlPeer } from '../peers/sql-peer.ts';
import type { StoreSection } from './store-section.ts';

const clients = 64;
const valueBytes = 100;
/** Approximate length: `key:` and a number. */
const KEY_BYTES = 9;

const peers = [
  { start: startPostgres, folder: 'postgres', name: 'PostgreSQL' },
  { start: startGalera, folder: 'galera', name: 'MariaDB with Galera' },
] as const;

export async function sqlSection(settings: StoreSection): Promise<Comparison[]> {
  const { folder, sizes, tell } = settings;
  const table = { keys: sizes.keys, valueBytes };
  await using started = new AsyncDisposableStack();
  const shape = { name: 'three', servers: 3, partitions: 64 };
  const cluster = started.use(await startCluster(settings, shape));
  const sides = [await ringSide(cluster, sizes.keys)];
  const rows: Comparison[] = [];
  for (const peer of peers) {
    const side = await peer.start(path.join(folder, peer.folder), table);
    if (side === null) {
      const fields = { section: 'sql', what: `beside ${peer.name}`, unit: '', figure: 0 };
      rows.push(withoutPeer(fields, peer.name));
      continue;
    }
    sides.push(started.use(side));
  }
  for (const op of ['put', 'get'] as const) {
    const figures = await alternate(sides, op, { sizes, tell });
    rows.push(...rowsOf(op, sides, figures));
  }
  return rows;
}

async function ringSide({ servers, addresses }: RingCluster, keys: number): Promise<SqlPeer> {
  const load = { kind: 'client', addresses, inFlight: clients, keys, valueBytes, seed: 1 } as const;
  await runLoad({ ...load, op: 'fill', seconds: 0 });
  return {
    name: 'Ringwright',
    client: 'one Node process, the client package',
    pids: servers.map(({ program }) => program.pid),
    load: async ({ op, seconds }) => {
      const { perSecond } = await runLoad({ ...load, op, seconds });
      // load.ts adds a quarter as warm-up, which it does not count.
      return { perSecond, requests: 1.25 * seconds * perSecond };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

interface Figures {
  readonly perSecond: number;
  /** Processor microseconds of all its processes per request. */
  readonly cpuUs: number;
  /** Bytes given to the file system, for all copies, per byte of keys and values. */
  readonly writtenPerByte: number;
}

function alternate(
  sides: readonly SqlPeer[],
  op: SqlLoad['op'],
  { sizes, tell }: Pick<StoreSection, 'sizes' | 'tell'>,
): Promise<Figures[][]> {
  const { seconds, rounds } = sizes;
  return inTurn(sides, rounds, (side, round) => {
    tell(`${op}s, ${side.name}, round ${round + 1} of ${rounds}`);
    return measured(side, { op, seconds, clients });
  });
}

async function measured({ pids, load }: SqlPeer, work: SqlLoad): Promise<Figures> {
  const before = await treeCost(pids);
  const { perSecond, requests } = await load(work);
  const after = await treeCost(pids);
  const written = after.writtenBytes - before.writtenBytes;
  return {
    perSecond,
    cpuUs: (1e6 * (after.cpuSeconds - before.cpuSeconds)) / requests,
    writtenPerByte: written / (requests * (KEY_BYTES + valueBytes)),
  };
}

const measures = {
  perSecond: { what: '', unit: '/s' },
  cpuUs: { what: ', processor of all servers', unit: 'us a request' },
  writtenPerByte: { what: ', written by all servers', unit: 'bytes per byte stored' },
} as const;

function rowsOf(
  op: SqlLoad['op'],
  [own, ...others]: readonly SqlPeer[],
  [ours = [], ...theirs]: readonly Figures[][],
): Comparison[] {
  const names: (keyof Figures)[] = ['perSecond', 'cpuUs'];
  if (op === 'put') names.push('writtenPerByte');
  const rowOf = (name: keyof Figures, index: number): Comparison => {
    const medianOf = (all: readonly Figures[]): number => median(all.map((figure) => figure[name]));
    const { what, unit } = measures[name];
    const whole = `${op}s by ${clients} clients, ${valueBytes} bytes${what}`;
    const fields = { section: 'sql', what: whole, unit, figure: medianOf(ours) };
    const other = others[index];
    if (other === undefined) return comparison(fields);
    const aim = name === 'perSecond' ? { atLeast: 3 } : null;
    const note = aim === null ? '' : `${own?.client}; ${other.client}`;
    const beside = { name: other.name, figure: medianOf(theirs[index] ?? []) };
    return comparison({ ...fields, aim, note, beside });
  };
  const columns = others.length === 0 ? [0] : others.map((_, index) => index);
  return columns.flatMap((index) => names.map((name) => rowOf(name, index)));
}
