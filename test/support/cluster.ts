// A cluster of real processes with one ring, each server in a zone of its own. It ends with an
// audit: replicas are equal, and neither the files nor the repository have findings.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { checkStore } from '@ringwright/partition/audit/check-store';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import { onTestFinished } from 'vitest';
import { unequalReplicas } from './replica-digests.ts';
import { type RingBuilder, ringBuilderIn } from './ring-builder-program.ts';
import { ServerUnderTest } from './server-under-test.ts';

export const keyspace = 'notes';

interface Shape {
  readonly servers: number;
  readonly partitions?: number;
  readonly replicas?: number;
  /** Options of `create` that replace the number of partitions. */
  readonly partitioner?: readonly string[];
  /** Folder of all files; by default a new one in the system's temporary folder. */
  readonly folder?: string;
  /** Additional words on the command line of every server. */
  readonly extra?: (cluster: Cluster) => readonly string[];
}

export class Cluster implements AsyncDisposable {
  readonly folder: string;
  readonly builder: RingBuilder;
  readonly servers: ServerUnderTest[] = [];
  /** Servers that have received the ring. */
  readonly #coordinators: ServerUnderTest[] = [];
  readonly #extra: NonNullable<Shape['extra']>;

  constructor(builder: RingBuilder, extra: NonNullable<Shape['extra']> = () => []) {
    this.folder = builder.folder;
    this.builder = builder;
    this.#extra = extra;
  }

  get rings(): string {
    return path.join(this.folder, 'rings');
  }

  /** Ports of the running servers that have the ring: any of them can coordinate. */
  ports(): number[] {
    return this.#coordinators.filter(({ isRunning }) => isRunning).map(({ place }) => place.port);
  }

  /** Pushes the head to every server of the ring. From now on all of them coordinate. */
  async push(): Promise<void> {
    await this.quickly(['push', keyspace]);
    const { devices } = await this.head();
    const ports = new Set(devices.map((device) => device?.port));
    for (const server of this.servers) {
      const isNew = ports.has(server.place.port) && !this.#coordinators.includes(server);
      if (isNew) this.#coordinators.push(server);
    }
  }

  /** Starts one more server, which no ring names yet. */
  async addServer(portWanted?: number): Promise<ServerUnderTest> {
    const port = portWanted ?? (await freePorts(1))[0] ?? 0;
    const number = this.servers.length + 1;
    const device = `sd${number}`;
    const data = path.join(this.folder, device);
    const server = new ServerUnderTest({ device, zone: number, port, data });
    this.servers.push(server);
    await server.start(this.#extra(this));
    return server;
  }

  /** Starts a server again on its existing data. */
  async restart(server: ServerUnderTest): Promise<void> {
    await server.start(this.#extra(this));
  }

  serverOf(ring: Ring, device: number): ServerUnderTest {
    const port = ring.devices[device]?.port;
    const server = this.servers.find(({ place }) => place.port === port);
    if (server === undefined) throw new Error(`no server of this cluster is d${device}`);
    return server;
  }

  async head(): Promise<Ring> {
    return (await readVersion(this.rings, keyspace, 'head')).ring;
  }

  /** Stages a change with a command such as `add`, and commits it. */
  async commit(verb: string, ...args: string[]): Promise<Ring> {
    await this.quickly([verb, keyspace, ...args]);
    await this.quickly(['commit', keyspace, '-m', `${verb} ${args.join(' ')}`]);
    return this.head();
  }

  /** Runs a command that is not the subject of the test. It must exit with 0. */
  async quickly(args: readonly string[]): Promise<void> {
    const { exit, stdout, stderr } = await this.builder.run(args);
    if (exit === 0) return;
    throw new Error(`ring-builder ${args.join(' ')} ended with ${exit}: ${stdout}${stderr}`);
  }

  /** Waits until the log names a version at least this high, so that the version is committed. */
  async committed(version: number): Promise<void> {
    await waitFor(`version ${version} to be committed`, {
      ask: async () => (await readLog(this.rings, keyspace)).at(-1)?.version ?? 0,
      until: (there) => there >= version,
    });
  }

  /**
   * Waits until every holder of every partition has the same records, and no other device has any.
   */
  async replicasEqual(): Promise<void> {
    const ring = await this.head();
    await waitFor(`all replicas of version ${ring.version} to be equal`, {
      ask: () => unequalReplicas(ring),
      until: (faults) => faults.length === 0,
    });
  }

  /** Stops the servers and returns everything wrong in their files. */
  async stopAndCheckFiles(): Promise<string[]> {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    const exits = await Promise.all(running.map((server) => server.stop()));
    const faults = running
      .filter((_, at) => exits[at] !== 0)
      .map(({ place }) => `${place.device} did not end with 0 on SIGTERM`);
    for (const { place } of this.servers) {
      const findings = await checkStore(place.data);
      faults.push(...findings.map(({ code, message }) => `${place.device}: ${code} ${message}`));
    }
    const { exit, stdout, stderr } = await this.builder.run(['verify', keyspace, '--json']);
    return exit === 0 ? faults : [...faults, `verify ended with ${exit}: ${stdout}${stderr}`];
  }

  /** The end of every scenario. Throws with its findings. */
  async audit(): Promise<void> {
    await this.replicasEqual();
    const faults = await this.stopAndCheckFiles();
    if (faults.length > 0) throw new Error(`the audit found:\n${faults.join('\n')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await fs.rm(this.folder, { recursive: true, force: true });
  }
}

/**
 * Starts a cluster for one test. It is audited if the test has passed, and removed in any case. (An
 * audit in `await using` would hide the failure of the test behind its own.)
 */
export async function clusterForTest(shape: Shape): Promise<Cluster> {
  const cluster = await startCluster(shape);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await cluster[Symbol.asyncDispose]();
    else await endCluster(cluster);
  });
  return cluster;
}

/** Ends a cluster that all tests of a file share. Call it in `afterAll`. */
export async function endCluster(cluster: Cluster): Promise<void> {
  await using ending = cluster;
  await ending.audit();
}

/** Starts servers that serve version 1 of a ring. */
export async function startCluster(shape: Shape): Promise<Cluster> {
  const folder = shape.folder ?? (await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-e2e-')));
  await fs.mkdir(folder, { recursive: true });
  const cluster = new Cluster(await ringBuilderIn(folder), shape.extra);
  try {
    const ports = await freePorts(shape.servers);
    await Promise.all(ports.map((port) => cluster.addServer(port)));
    await createRing(cluster, shape);
    await cluster.push();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

async function createRing(cluster: Cluster, shape: Shape): Promise<void> {
  const { partitions = 16, replicas = 3 } = shape;
  const { partitioner = ['--partitions', String(partitions)] } = shape;
  const rules = ['--replicas', String(replicas), '--min-part-hours', '0'];
  await cluster.quickly(['create', keyspace, ...partitioner, ...rules]);
  const devices = cluster.servers.flatMap(({ text }) => [text, '1']);
  await cluster.commit('add', ...devices);
}
