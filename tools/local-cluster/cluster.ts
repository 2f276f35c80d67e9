// The servers of the demonstration. They are started and ended together, so that none keeps
// running.
import { must } from '@ringwright/base/assert';
import { freePorts } from '@ringwright/node/free-ports';
import { failure } from './failure.ts';
import { type Guarded, ServerProcess } from './server-process.ts';

/** Zones of the servers: two servers in each of three zones, and the joiner in a fourth. */
const ZONES = [1, 2, 3, 1, 2, 3, 4] as const;
const FIRST_SERVERS = 6;
const GUARDED_SERVERS = 3;

export class Cluster {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #servers: ServerProcess[] = [];
  #isEnding = false;

  /** `ports`: from findPorts(). */
  constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
    process.once('exit', () => this.killNow());
  }

  static findPorts(): Promise<readonly number[]> {
    return freePorts(ZONES.length);
  }

  get servers(): readonly ServerProcess[] {
    return this.#servers;
  }

  /** Starts six servers in three zones, or three secured ones. Resolves when all are ready. */
  async startFirst(guarded: Guarded | null = null): Promise<void> {
    const count = guarded === null ? FIRST_SERVERS : GUARDED_SERVERS;
    const started = Array.from({ length: count }, (_, index) => this.#start(index, guarded));
    await Promise.all(started.map((server) => server.ready()));
  }

  /** Starts the seventh server, in a zone of its own. */
  async startJoiner(): Promise<ServerProcess> {
    const server = this.#start(FIRST_SERVERS, null);
    await server.ready();
    return server;
  }

  /** Ends all servers. No further server can be started. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** As stop, by SIGKILL: for data that is not kept, so servers need not flush it. */
  async killHard(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#servers.map((server) => server.killHard()));
  }

  /** As stop, without waiting for the processes. */
  killNow(): void {
    this.#isEnding = true;
    for (const server of this.#servers) server.killNow();
  }

  #start(index: number, guarded: Guarded | null): ServerProcess {
    if (this.#isEnding) throw failure('the cluster is being stopped');
    const server = new ServerProcess({
      device: `sd${index + 1}`,
      zone: must(ZONES[index], `no zone for server ${index}`),
      port: must(this.#ports[index], `no port for server ${index}`),
      folder: this.#folder,
      guarded,
    });
    this.#servers.push(server);
    return server;
  }
}
