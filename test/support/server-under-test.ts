// One real ring-server: started, paused, killed, started again on the same data and port.
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
  /** Data directory; the log lies beside it. */
  readonly data: string;
  /** What Node itself is started with, besides the usual. */
  readonly node?: {
    readonly options: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
  };
  /** The launcher of another program than that of this checkout. */
  readonly program?: string;
  /** What its tester shows it; absent: nothing, without TLS. */
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

  /** As `ring-builder add` takes it. */
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

  /** Resolves when it listens. */
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
    // An option given twice would be a list: what a test says of an address or a name stands alone.
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
    // Should the tests be interrupted, nothing is left running.
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

  /** Resolves when every partition the ring gives it can be read. */
  async ready(): Promise<void> {
    await waitFor(`${this.place.device} to be ready`, {
      ask: () => this.status(),
      until: ({ ready, rings }) => ready && rings.length > 0,
    });
  }

  /** Throws where it refuses: one that has just started has not heard yet who may ask. */
  async status(): Promise<ServerStatus> {
    const { status, bytes } = await this.#ask('/v1/status');
    if (status !== 200) throw new Error(`${this.place.device}: ${status} ${bytes.toString()}`);
    return JSON.parse(bytes.toString()) as ServerStatus;
  }

  #ask(path: string): Promise<Response> {
    const { port, shown = null } = this.place;
    return askServer(port, { path, shown });
  }

  /** The way a machine dies. */
  async kill(): Promise<void> {
    this.#run?.child.kill('SIGKILL');
    await this.#run?.exited;
  }

  /** Asks it to end; its exit code. */
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

  /** The log's JSON lines; anything else in it is a failure of its own. */
  logLines(): LogLine[] {
    const lines = this.logText().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as LogLine);
  }
}
