// Real ring-servers with one ring, started, given the ring and ready, by the programs people use.
import fs from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { outputOf } from '../measure/finished-program.ts';
import { type StartedProgram, startProgram } from '../measure/started-program.ts';

const serverMain = path.resolve(import.meta.dirname, '../../ring-server/launcher.mjs');
const builderMain = path.resolve(import.meta.dirname, '../../ring-builder/launcher.mjs');

export const keyspace = 'bench';

export interface RingServer {
  readonly address: string;
  readonly redisPort: number;
  readonly data: string;
  /** As `ring-builder add` takes it. */
  readonly deviceText: string;
  program: StartedProgram;
}

export interface RingCluster extends AsyncDisposable {
  readonly servers: RingServer[];
  readonly addresses: readonly string[];
  /** Starts one more server; no ring names it yet. */
  readonly addServer: () => Promise<RingServer>;
  /** Starts a stopped server again on its data; resolves when it is ready to read and write. */
  readonly restart: (server: RingServer) => Promise<void>;
  /** The JSON document of a ring-builder command. */
  readonly builder: (...args: string[]) => Promise<unknown>;
}

interface ClusterShape {
  readonly folder: string;
  readonly servers: number;
  readonly partitions: number;
  readonly replicas: number;
  /** The default takes any number of partitions. */
  readonly partitioner?: 'murmur3-mod' | 'hash-intervals';
  /** Words for node itself, such as --cpu-prof. */
  readonly nodeArgs?: readonly string[];
}

export async function startCluster(shape: ClusterShape): Promise<RingCluster> {
  await fs.mkdir(shape.folder, { recursive: true });
  const servers: RingServer[] = [];
  const builder = async (...args: string[]): Promise<unknown> => {
    const rings = path.join(shape.folder, 'rings');
    const all = [builderMain, ...args, '--rings', rings, '--json', '--yes'];
    return JSON.parse(await outputOf(process.execPath, all));
  };
  const addServer = async (): Promise<RingServer> => {
    const server = await startServer(shape, servers.length + 1);
    servers.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map(({ program }) => program.stop()));
  };
  try {
    for (let count = 0; count < shape.servers; count += 1) await addServer();
    await createRing(builder, shape, servers);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    servers,
    get addresses() {
      return servers.map(({ address }) => address);
    },
    addServer,
    restart: async (server) => {
      server.program = await startProgram(programOf(shape, server));
      await ready(server);
    },
    builder,
    [Symbol.asyncDispose]: stop,
  };
}

async function createRing(
  builder: RingCluster['builder'],
  { partitions, replicas, partitioner = 'murmur3-mod' }: ClusterShape,
  servers: readonly RingServer[],
): Promise<void> {
  const counts = ['--partitions', `${partitions}`, '--replicas', `${replicas}`];
  const rules = ['--partitioner', partitioner, '--min-part-hours', '0', '--unsigned'];
  await builder('create', keyspace, ...counts, ...rules);
  await builder('add', keyspace, ...servers.flatMap(({ deviceText }) => [deviceText, '1']));
  await builder('commit', keyspace, '-m', 'the first devices');
  await builder('push', keyspace);
  await Promise.all(servers.map(ready));
}

async function startServer(shape: ClusterShape, number: number): Promise<RingServer> {
  const [port = 0, redisPort = 0] = await freePorts(2);
  const address = `127.0.0.1:${port}`;
  const data = path.join(shape.folder, `sd${number}`);
  const deviceText = `r1z${number}-${address}/sd${number}`;
  const place = { address, redisPort, data, deviceText };
  return { ...place, program: await startProgram(programOf(shape, place)) };
}

function programOf({ nodeArgs = [] }: ClusterShape, place: Omit<RingServer, 'program'>) {
  const { address, redisPort, data } = place;
  const args = ['--data', data, '--listen', address, '--device', path.basename(data)];
  return {
    file: process.execPath,
    args: [...nodeArgs, serverMain, ...args, '--redis-port', `${redisPort}`],
    logFile: `${data}.log`,
    isUp: async () => (await fetch(`http://${address}/healthz`)).ok,
  };
}

/** Resolves when every partition the ring gives it can be read. */
async function ready({ address }: RingServer): Promise<void> {
  for (;;) {
    const status = (await (await fetch(`http://${address}/v1/status`)).json()) as {
      ready: boolean;
      rings: unknown[];
    };
    if (status.ready && status.rings.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
