// bench:store, three devices with three replicas at quorum, beside an etcd of three members.
import path from 'node:path';
import { type Load, runLoad } from '../load/load-run.ts';
import type { TargetKind } from '../load/load-target.ts';
import { type Aim, type Comparison, comparison, withoutPeer } from '../measure/comparison.ts';
import { inTurn } from '../measure/in-turn.ts';
import { median } from '../measure/median.ts';
import { startEtcd } from '../peers/etcd-peer.ts';
import type { LoadFigures } from '../peers/redis-benchmark.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const partitions = 64;
const inFlight = 64;

interface Way {
  readonly name: string;
  /** Description of the client, for both sides. */
  readonly client: string;
  readonly ours: TargetKind;
  readonly theirs: TargetKind;
}

interface Case extends Way {
  readonly op: 'put' | 'get';
  readonly valueBytes: number;
  readonly aim: Aim | null;
}

/** Both sides use the same kind of client: binary frames on a connection per server, or HTTP. */
const client: Way = {
  name: 'client package',
  client: `one Node process, a binary connection per server, ${inFlight} calls in flight`,
  ours: 'client',
  theirs: 'etcd-grpc',
};
const http: Way = {
  name: 'HTTP',
  client: `one Node process, ${inFlight} kept connections over three servers`,
  ours: 'http',
  theirs: 'etcd-http',
};

const smallCases: readonly Case[] = [
  { ...client, op: 'put', valueBytes: 100, aim: { atLeast: 2.5 } },
  { ...client, op: 'get', valueBytes: 100, aim: { atLeast: 4 } },
  { ...http, op: 'put', valueBytes: 100, aim: { atLeast: 1.5 } },
  { ...http, op: 'get', valueBytes: 100, aim: { atLeast: 2 } },
];

const largeCases: readonly Case[] = [
  { ...client, op: 'put', valueBytes: 1_024, aim: null },
  { ...client, op: 'get', valueBytes: 1_024, aim: null },
  { ...client, op: 'put', valueBytes: 65_536, aim: { atLeast: 1 } },
  { ...client, op: 'get', valueBytes: 65_536, aim: null },
];

const peerNames: Readonly<Record<string, string>> = {
  'etcd-grpc': 'etcd, gRPC (node:http2)',
  'etcd-http': 'etcd, JSON gateway',
};

export function etcdSection(settings: StoreSection): Promise<Comparison[]> {
  return besideEtcd(settings, { section: 'etcd', cases: smallCases });
}

/** Values of 1 and 64 KiB. */
export function etcdValues(settings: StoreSection): Promise<Comparison[]> {
  return besideEtcd(settings, { section: 'values', cases: largeCases });
}

async function besideEtcd(
  settings: StoreSection,
  { section, cases }: { readonly section: string; readonly cases: readonly Case[] },
): Promise<Comparison[]> {
  const { folder, sizes, tell } = settings;
  await using cluster = await startCluster(settings, { name: 'three', servers: 3, partitions });
  await using etcd = await startEtcd(path.join(folder, 'etcd'));
  const rows: Comparison[] = [];
  for (const one of cases) {
    const what = `${one.op} over ${one.name}, ${sizeOf(one)}`;
    tell(what);
    const sides = [{ kind: one.ours, addresses: cluster.addresses }];
    if (etcd !== null) sides.push({ kind: one.theirs, addresses: etcd.addresses });
    const [ours = [], theirs = null] = await alternate(sides, one, sizes);
    rows.push(...rowsOf({ section, what }, one, { ours, theirs }));
  }
  return rows;
}

type Side = Pick<Load, 'kind' | 'addresses'>;

async function alternate(
  sides: readonly Side[],
  { op, valueBytes }: Case,
  { seconds, rounds, keys }: StoreSection['sizes'],
): Promise<LoadFigures[][]> {
  const load = { op, seconds, inFlight, keys, valueBytes, seed: 1 };
  if (op === 'get') for (const side of sides) await runLoad({ ...load, ...side, op: 'fill' });
  return inTurn(sides, rounds, (side, round) => runLoad({ ...load, ...side, seed: round }));
}

function sizeOf({ valueBytes }: Case): string {
  return valueBytes < 1_024 ? `${valueBytes} bytes` : `${valueBytes / 1_024} KiB`;
}

interface Both {
  readonly ours: readonly LoadFigures[];
  readonly theirs: readonly LoadFigures[] | null;
}

function rowsOf(
  { section, what }: { readonly section: string; readonly what: string },
  one: Case,
  { ours, theirs }: Both,
): Comparison[] {
  const row = (name: keyof LoadFigures, unit: string, aim: Aim | null): Comparison => {
    const medianOf = (figures: readonly LoadFigures[]): number =>
      median(figures.map((figure) => figure[name]));
    const whole = name === 'perSecond' ? what : `${what}, ${name.slice(0, 3)}`;
    const note = name === 'perSecond' ? one.client : '';
    const fields = { section, what: whole, unit, figure: medianOf(ours), aim, note };
    if (theirs === null) return withoutPeer(fields, 'etcd');
    return comparison({
      ...fields,
      beside: { name: peerNames[one.theirs] ?? '', figure: medianOf(theirs) },
    });
  };
  const lower = one.aim === null ? null : { atMost: 1 };
  return [row('perSecond', '/s', one.aim), row('p50Ms', 'ms', null), row('p99Ms', 'ms', lower)];
}
