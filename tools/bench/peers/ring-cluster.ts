// Real ring-servers that serve one ring, started and set up with the programs that users run.
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '@ringwright/node/free-ports';
import type { Section } from '../measure/benchmark.ts';
import { outputOf } from '../measure/finished-program.ts';
import { type StartedProgram, startProgram } from '../measure/started-program.ts';

const serverMain = path.resolve(import.meta.dirname, '../../ring-server/launcher.mjs');
const builderMain = path.resolve(import.meta.dirname, '../../ring-builder/launcher.mjs');

export const keyspace = 'bench';

export interface RingServer {
  readonly address: string;
  readonly redisPort: number;
  readonly data: string;
  /** The device as `ring-builder add` takes it. */
  readonly deviceText: string;
  program: StartedProgram;
}

export interface RingCluster extends AsyncDisposable {
  readonly servers: RingServer[];
  readonly addresses: readonly string[];
  /** Starts one more server; no ring names it yet. */
  readonly addServer: () => Promise<RingServer>;
  /** Restarts a stopped server on its data; resolves when it is ready to read and write. */
  readonly restart: (server: RingServer) => Promise<void>;
  /** Returns the JSON document of a ring-builder command. */
  readonly builder: (...args: string[]) => Promise<unknown>;
}

interface ClusterShape {
  /** Name of its folder inside the section's folder, for sections with several clusters. */
  readonly name?: string;
  /** Each holds a replica of every partition, until another server is added. */
  readonly servers: number;
  readonly partitions: number;
  /** The default takes any number of partitions. */
  readonly partitioner?: 'murmur3-mod' | 'hash-intervals';
}

/** Folder and Node arguments of the section that starts it. */
type Place = Pick<Section<string>, 'folder' | 'nodeArgs'>;

export async function startCluster(section: Place, shape: ClusterShape): Promise<RingCluster> {
  const settings = { ...section, folder: path.join(section.folder, shape.name ?? 'cluster') };
  await fs.mkdir(settings.folder, { recursive: true });
  const servers: RingServer[] = [];
  const builder = async (...args: string[]): Promise<unknown> => {
    const rings = path.join(settings.folder, 'rings');
    const all = [builderMain, ...args, '--rings', rings, '--json', '--yes'];
    return JSON.parse(await outputOf(process.execPath, all));
  };
  const addServer = async (): Promise<RingServer> => {
    const server = await startServer(settings, servers.length + 1);
    servers.push(server);
    return server;
  };
  await using started = new AsyncDisposableStack();
  started.defer(async () => {
    await Promise.all(servers.map(({ program }) => program.stop()));
  });
  for (let count = 0; count < shape.servers; count += 1) await addServer();
  await createRing(builder, shape, servers);
  const all = started.move();
  return {
    servers,
    get addresses() {
      return servers.map(({ address }) => address);
    },
    addServer,
    restart: async (server) => {
      server.program = await startProgram(programOf(settings, server));
      await ready(server);
    },
    builder,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function createRing(
  builder: RingCluster['builder'],
  { partitions, partitioner = 'murmur3-mod' }: ClusterShape,
  servers: readonly RingServer[],
): Promise<void> {
  const counts = ['--partitions', `${partitions}`, '--replicas', `${servers.length}`];
  const rules = ['--partitioner', partitioner, '--min-part-hours', '0', '--unsigned'];
  await builder('create', keyspace, ...counts, ...rules);
  await builder('add', keyspace, ...servers.flatMap(({ deviceText }) => [deviceText, '1']));
  await builder('commit', keyspace, '-m', 'the first devices');
  await builder('push', keyspace);
  await Promise.all(servers.map(ready));
}

async function startServer(settings: Place, number: number): Promise<RingServer> {
  const [port = 0, redisPort = 0] = await freePorts(2);
  const address = `127.0.0.1:${port}`;
  const data = path.join(settings.folder, `sd${number}`);
  const deviceText = `r1z${number}-${address}/sd${number}`;
  const server = { address, redisPort, data, deviceText };
  return { ...server, program: await startProgram(programOf(settings, server)) };
}

function programOf({ nodeArgs }: Place, server: Omit<RingServer, 'program'>) {
  const { address, redisPort, data } = server;
  const args = ['--data', data, '--listen', address, '--device', path.basename(data)];
  return {
    file: process.execPath,
    args: [...nodeArgs, serverMain, ...args, '--redis-port', `${redisPort}`],
    logFile: `${data}.log`,
    isUp: async () => (await fetch(`http://${address}/healthz`)).ok,
  };
}

/** Resolves when every partition that the ring assigns to the server can be read. */
async function ready({ address }: RingServer): Promise<void> {
  for (;;) {
    const status = (await (await fetch(`http://${address}/v1/status`)).json()) as {
      ready: boolean;
      rings: unknown[];
    };
    if (status.ready && status.rings.length > 0) return;
    await delay(10);
  }
}
