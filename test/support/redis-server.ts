// Real ring-servers with Redis ports, and programs that connect to them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { freePorts } from '@ringwright/node/free-ports';
import { type Cluster, clusterForTest } from './cluster.ts';

interface RedisCluster {
  readonly cluster: Cluster;
  /** The Redis port of each server. */
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
    // A server that is added later has no Redis port.
    extra: ({ servers: { length } }) =>
      length > servers ? [] : ['--redis-port', String(ports[length - 1])],
  });
  return { cluster, ports };
}

/** Returns the standard output of a program that must exit with 0. */
export async function runProgram(
  name: string,
  args: readonly string[],
  stdin = '',
): Promise<string> {
  const child = spawn(name, args);
  // A program with its command in its arguments may end before it receives an empty input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const exited = new Promise((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const exit = await exited;
  if (exit !== 0)
    throw new Error(`${name} ${args.join(' ')} ended with ${String(exit)}: ${stderr}`);
  return stdout;
}

/** Whether the program is installed. A test that needs it says so and is skipped otherwise. */
export async function isInstalled(name: string): Promise<boolean> {
  const child = spawn(name, ['--version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (exit) => resolve(exit === 0));
  });
}

/** A bare connection: sends bytes, and returns the received bytes once enough have arrived. */
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

  /** Ends the sending side. Requests in flight are still answered. */
  finish(): void {
    this.#socket.end();
  }

  stopReading(): void {
    this.#socket.pause();
  }

  readOn(): void {
    this.#socket.resume();
  }

  /** Sends the bytes and returns what arrives, once it is as long as `wanted`. */
  async ask(bytes: string | Uint8Array, wanted: string): Promise<string> {
    this.send(bytes);
    await this.#until(() => this.#received.length >= wanted.length);
    return this.#take();
  }

  /** Returns all that arrives until the other end closes. */
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
