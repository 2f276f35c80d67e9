// A real ring-server with a Redis port, and programs that speak to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { freePorts } from '@ringwright/node/free-ports';
import { type Cluster, clusterForTest } from './cluster.ts';

interface RedisCluster {
  readonly cluster: Cluster;
  /** Redis port of each server. */
  readonly ports: readonly number[];
}

export async function redisCluster(shape: {
  readonly servers: number;
  readonly replicas: number;
}): Promise<RedisCluster> {
  const { servers, replicas } = shape;
  const ports = await freePorts(servers);
  const cluster = await clusterForTest({
    servers,
    replicas,
    partitions: 16,
    // A server that is added later has none.
    extra: ({ servers: { length } }) =>
      length > servers ? [] : ['--redis-port', String(ports[length - 1])],
  });
  return { cluster, ports };
}

/** The standard output of a program that must end with 0. */
export async function runProgram(
  name: string,
  args: readonly string[],
  stdin = '',
): Promise<string> {
  const child = spawn(name, args);
  // One with its command in its arguments may have ended before it is given an empty input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const exited = new Promise((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const exit = await exited;
  if (exit !== 0)
    throw new Error(`${name} ${args.join(' ')} ended with ${String(exit)}: ${stderr}`);
  return stdout;
}

/** True when the program is installed; a test that needs it says so and is skipped otherwise. */
export async function isInstalled(name: string): Promise<boolean> {
  const child = spawn(name, ['--version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (exit) => resolve(exit === 0));
  });
}

/** A bare connection: bytes in, and bytes out until as many have come as are wanted. */
export class RawConnection implements AsyncDisposable {
  readonly #socket: net.Socket;
  #received = '';
  #closed = false;
  #wake: () => void = () => undefined;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => {
      this.#received += data;
      this.#wake();
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
    socket.on('error', () => undefined);
  }

  static async to(port: number): Promise<RawConnection> {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Sends no more; what is under way is answered. */
  finish(): void {
    this.#socket.end();
  }

  stopReading(): void {
    this.#socket.pause();
  }

  readOn(): void {
    this.#socket.resume();
  }

  /** Sends, and gives the answer of this length, which must be all that comes. */
  async ask(bytes: string | Uint8Array, wanted: string): Promise<string> {
    this.send(bytes);
    await this.#until(() => this.#received.length >= wanted.length);
    return this.#take();
  }

  /** All that comes until the other end closes. */
  async rest(): Promise<string> {
    await this.#until(() => this.#closed);
    return this.#take();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#until(() => this.#closed);
  }

  #take(): string {
    const taken = this.#received;
    this.#received = '';
    return taken;
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
