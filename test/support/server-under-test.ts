// A real ring-server that can be started, paused, killed, and started again on the same data and
// port.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import type { ServerStatus } from '@ringwright/server/status/status';
import { askServer, type Response, type Shown } from './ask-server.ts';

export const serverProgram = path.join(import.meta.dirname, '../../tools/ring-server/launcher.mjs');

interface ServerPlace {
  readonly device: string;
  readonly zone: number;
  readonly port: number;
  /** Data directory. The log lies beside it. */
  readonly data: string;
  /** Additional options and environment for Node itself. */
  readonly node?: {
    readonly options: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
  };
  /** The launcher of another release, in place of the one of this checkout. */
  readonly program?: string;
  /** What the test presents to the server; absent: no token and no TLS. */
  readonly shown?: Shown;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly msg: string;
  readonly [name: string]: unknown;
}

interface ProgramRun {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
}

export class ServerUnderTest {
  readonly place: ServerPlace;
  #run: ProgramRun | null = null;

  constructor(place: ServerPlace) {
    this.place = place;
  }

  /** The device in the form that `ring-builder add` takes. */
  get text(): string {
    const { zone, port, device } = this.place;
    return `r1z${zone}-127.0.0.1:${port}/${device}`;
  }

  get address(): string {
    return `127.0.0.1:${this.place.port}`;
  }

  get isRunning(): boolean {
    const child = this.#run?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Waits until the server listens. */
  async start(extra: readonly string[] = [], deadlineMs?: number): Promise<void> {
    this.spawn(extra);
    const isUp = async () => (await this.#ask('/healthz')).status === 200;
    await waitFor(`${this.place.device} to listen or to end`, {
      ask: async () => !this.isRunning || (await isUp()),
      until: (is) => is,
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    if (this.isRunning) return;
    throw new Error(`${this.place.device} ended at its start: ${this.logText().slice(-600)}`);
  }

  spawn(extra: readonly string[] = []): void {
    const { device, port, data, node, program = serverProgram } = this.place;
    // An option given twice becomes a list, so an option in `extra` replaces the usual one.
    const usual = { '--data': data, '--listen': `127.0.0.1:${port}`, '--device': device };
    const listen = Object.entries(usual)
      .filter(([name]) => !extra.includes(name))
      .flat();
    const log = fs.openSync(`${data}.log`, 'a');
    const stdio = ['ignore', log, log] as const;
    const args = [...(node?.options ?? []), program, ...listen, ...extra];
    const env = { ...process.env, ...node?.environment };
    const child = spawn(process.execPath, args, { stdio: [...stdio], env });
    fs.closeSync(log);
    // Leaves no server running if the tests are interrupted.
    const killNow = (): boolean => child.kill('SIGKILL');
    process.once('exit', killNow);
    const exited = new Promise<number | null>((resolve) => {
      child.once('close', (code) => {
        process.off('exit', killNow);
        resolve(code);
      });
    });
    this.#run = { child, exited };
  }

  /** Waits until every partition that the ring assigns to the server can be read. */
  async ready(): Promise<void> {
    await waitFor(`${this.place.device} to be ready`, {
      ask: () => this.status(),
      until: ({ ready, rings }) => ready && rings.length > 0,
    });
  }

  /** Throws if the server refuses: just after its start it does not know yet who has access. */
  async status(): Promise<ServerStatus> {
    const { status, bytes } = await this.#ask('/v1/status');
    if (status !== 200) throw new Error(`${this.place.device}: ${status} ${bytes.toString()}`);
    return JSON.parse(bytes.toString()) as ServerStatus;
  }

  #ask(path: string): Promise<Response> {
    const { port, shown = null } = this.place;
    return askServer(port, { path, shown });
  }

  /** Ends the server without warning, as a machine failure does. */
  async kill(): Promise<void> {
    this.#run?.child.kill('SIGKILL');
    await this.#run?.exited;
  }

  /** Stops the server in order. Returns its exit code. */
  async stop(): Promise<number | null> {
    this.#run?.child.kill('SIGTERM');
    return this.exited();
  }

  async exited(): Promise<number | null> {
    return (await this.#run?.exited) ?? null;
  }

  pause(): void {
    this.signal('SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  signal(signal: NodeJS.Signals): void {
    this.#run?.child.kill(signal);
  }

  logText(): string {
    const file = `${this.place.data}.log`;
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  }

  /**
   * Returns the JSON lines of the log. Any other line throws, because it is a failure by itself.
   */
  logLines(): LogLine[] {
    const lines = this.logText().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as LogLine);
  }
}
