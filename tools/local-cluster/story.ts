// The demonstration in acts: load, join and split under traffic, kill, compare. Each act returns
// its figures.
import { must } from '@ringwright/base/assert';
import { seededRandom } from '@ringwright/base/random';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { loadRecords, readBack } from './all-records.ts';
import type { Cities } from './cities.ts';
import type { Cluster } from './cluster.ts';
import { failure } from './failure.ts';
import type { Figures } from './figures.ts';
import { type Ledger, newLedger } from './ledger.ts';
import type { Narrator } from './narrator.ts';
import type { RingBuilder } from './ring-builder.ts';
import type { ServerProcess } from './server-process.ts';
import { startTraffic, type Traffic } from './traffic.ts';

export const KEYSPACE = 'cities';
export const REPLICAS = 3;
export const WEIGHT = '1';
/** Any seed will do; a fixed one makes runs alike. */
export const TRAFFIC_SEED = 20_261_121;
/** Enough after the kill for several requests to every partition. */
const WRITES_AFTER_KILL = 1_000;
const READS_AFTER_KILL = 2_000;
const AFTER_KILL_MS_MAX = 30_000;
/** Any partition will do, because hashes are even. */
const PARENT = 0;
/** Not the joiner. Its zone keeps one server. */
const VICTIM = 1;

export interface Stage {
  readonly cluster: Cluster;
  readonly builder: RingBuilder;
  readonly narrator: Narrator;
  readonly cities: Cities;
  readonly partitions: number;
}

export interface Ending {
  readonly figures: Figures;
  readonly victim: ServerProcess;
  readonly wrong: readonly string[];
}

export async function tellStory(stage: Stage): Promise<Ending> {
  const started = performance.now();
  const { cluster, narrator, cities } = stage;
  await buildFirstRing(stage);
  const client = await connect(addressesOf(cluster), { keyspace: KEYSPACE });
  const ledger = newLedger(cities.entries);
  const loadSeconds = await load(stage, client, ledger);
  const traffic = startTraffic({ client, ledger, random: seededRandom(TRAFFIC_SEED) });
  const change = await join(stage);
  const split = await splitOne(stage);
  const kill = await killOne(stage, traffic);
  narrator.act('Every record is read back and compared');
  const comparison = await readBack(client, ledger);
  await client.close();
  const records = cities.entries.length;
  narrator.say(`${records.toLocaleString('en')} compared, ${comparison.wrong.length} lost`);
  const figures: Figures = {
    records,
    duplicates: cities.duplicates,
    lost: comparison.wrong.length,
    wrongReads: traffic.seen.wrong.length,
    ...change,
    split,
    loadedPerSecond: Math.round(records / loadSeconds),
    comparedPerSecond: Math.round(records / comparison.seconds),
    live: kill.live,
    longestPauseMs: {
      writer: Math.round(traffic.seen.writePauseMs),
      reader: Math.round(traffic.seen.readPauseMs),
    },
    seconds: tenths((performance.now() - started) / 1000),
  };
  return { figures, victim: kill.victim, wrong: [...traffic.seen.wrong, ...comparison.wrong] };
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

export function addressesOf({ servers }: Cluster): string[] {
  return servers.map(({ address }) => address);
}

export function deviceOf({ place }: ServerProcess): string {
  return `r1z${place.zone}-127.0.0.1:${place.port}/${place.device}`;
}

async function buildFirstRing({ cluster, builder, narrator, partitions }: Stage): Promise<void> {
  narrator.act('Six servers in three zones, and their first ring');
  await cluster.startFirst();
  const counts = ['--partitions', String(partitions), '--replicas', String(REPLICAS)];
  // A partition is an interval of hashes, so it can be split later.
  await builder('create', KEYSPACE, '--partitioner', 'hash-intervals', ...counts);
  const devices = cluster.servers.flatMap((server) => [deviceOf(server), WEIGHT]);
  await builder('add', KEYSPACE, ...devices);
  await builder('commit', KEYSPACE, '-m', 'six servers in three zones');
  await builder('push', KEYSPACE);
}

export async function load(
  { narrator }: Pick<Stage, 'narrator'>,
  client: Client,
  ledger: Ledger,
): Promise<number> {
  const count = ledger.entries.length.toLocaleString('en');
  narrator.act(`${count} cities of the world are written at quorum`);
  const seconds = await loadRecords(client, ledger);
  const rate = Math.round(ledger.entries.length / seconds).toLocaleString('en');
  narrator.say(`${count} records in ${seconds.toFixed(1)} s, ${rate} a second`);
  return seconds;
}

interface PlanDocument {
  readonly moved: number;
  readonly moveLowerBound: number;
  readonly digest: string;
}

interface RolloutDocument {
  readonly version: number;
  readonly moved: number;
  readonly verified: number;
  readonly copied: {
    readonly partitions: number;
    readonly bytes: number;
    readonly seconds: number;
  };
}

type Change = Pick<
  Figures,
  'moved' | 'moveLowerBound' | 'copiesVerified' | 'copied' | 'ringVersion' | 'rolloutSeconds'
>;

async function join({ cluster, builder, narrator }: Stage): Promise<Change> {
  narrator.act('A seventh server joins in a fourth zone, while an application writes and reads');
  const joiner = await cluster.startJoiner();
  await builder('add', KEYSPACE, deviceOf(joiner), WEIGHT);
  const { moved, moveLowerBound, digest } = await builder<PlanDocument>('plan', KEYSPACE);
  narrator.say(`${moved} moves; no ring needs fewer than ${moveLowerBound}`);
  await builder('commit', KEYSPACE, '-m', 'sd7 joins in zone 4', '--plan', digest);
  const started = performance.now();
  const rollout = await builder<RolloutDocument>('rollout', KEYSPACE);
  const rolloutSeconds = tenths((performance.now() - started) / 1000);
  const { partitions, bytes, seconds } = rollout.copied;
  const files = `${partitions} partition files copied and verified`;
  narrator.say(`${files} in ${rolloutSeconds} s; the ring is at version ${rollout.version}`);
  return {
    moved: rollout.moved,
    copiesVerified: rollout.verified === partitions,
    copied: { partitions, bytes, mbPerSecond: seconds > 0 ? tenths(bytes / 1e6 / seconds) : 0 },
    ringVersion: rollout.version,
    moveLowerBound,
    rolloutSeconds,
  };
}

async function splitOne({ builder, narrator }: Stage): Promise<Figures['split']> {
  narrator.act(`Partition ${PARENT} is split in two, and the application continues`);
  await builder('split', KEYSPACE, String(PARENT));
  await builder('commit', KEYSPACE, '-m', 'two in place of one');
  const started = performance.now();
  const { moved: filled, version } = await builder<RolloutDocument>('rollout', KEYSPACE);
  const seconds = tenths((performance.now() - started) / 1000);
  const own = `each of ${REPLICAS} servers filled two files from its own`;
  narrator.say(`${own} in ${seconds} s; the ring is at version ${version}`);
  return { filled, wanted: 2 * REPLICAS, seconds };
}

async function killOne({ cluster, narrator }: Stage, traffic: Traffic) {
  const victim = must(cluster.servers[VICTIM], 'there are six servers');
  narrator.act(`${victim.place.device} is killed (SIGKILL), and the application continues`);
  const { seen } = traffic;
  const [writesBefore, readsBefore] = [seen.writes, seen.reads];
  await victim.killHard();
  const goesOn = (): boolean =>
    seen.writes - writesBefore >= WRITES_AFTER_KILL && seen.reads - readsBefore >= READS_AFTER_KILL;
  const what = `${WRITES_AFTER_KILL} writes and ${READS_AFTER_KILL} reads without that server`;
  await waitFor(what, { ask: goesOn, until: Boolean, deadlineMs: AFTER_KILL_MS_MAX, failure });
  await traffic.stop();
  const { writes, reads, retries } = seen;
  const [writesAfterKill, readsAfterKill] = [writes - writesBefore, reads - readsBefore];
  const [updates, answers] = [writesAfterKill, readsAfterKill].map((n) => n.toLocaleString('en'));
  narrator.say(`${updates} updates and ${answers} reads were answered without it`);
  return { victim, live: { writes, reads, retries, writesAfterKill, readsAfterKill } };
}
