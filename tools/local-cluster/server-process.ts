// One ring-server process: starts it, waits for it, ends it.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { getHttp } from '@ringwright/node/link/get-http';
import { waitFor } from '@ringwright/node/wait-for';
import { failure } from './failure.ts';

const SERVER_MAIN = path.resolve(import.meta.dirname, '../ring-server/launcher.mjs');
const ANSWER_MS_MAX = 1_000;
const READY_MS_MAX = 20_000;
const STOP_MS_MAX = 10_000;

interface ServerPlace {
  /** Device name, such as `sd1`. */
  readonly device: string;
  readonly zone: number;
  readonly port: number;
  /** Folder with the data and logs of all servers. */
  readonly folder: string;
  /** Null: without TLS, tokens or signed rings. */
  readonly guarded: Guarded | null;
}

/** Files of a server that proves its identity and demands proof from clients. */
export interface Guarded {
  /** A key with its certificates. */
  readonly bundle: string;
  readonly authority: string;
  /** The trust document. */
  readonly trust: string;
}

export class ServerProcess {
  readonly place: ServerPlace;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #logFile: string;

  constructor(place: ServerPlace) {
    this.place = place;
    this.#logFile = path.join(place.folder, `${place.device}.log`);
    const log = fs.openSync(this.#logFile, 'a');
    this.#child = spawn(process.execPath, [SERVER_MAIN, ...serverArguments(place)], {
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    this.#exited = new Promise((resolve) => {
      this.#child.once('close', () => resolve());
      this.#child.once('error', () => resolve());
    });
  }

  get address(): string {
    return `127.0.0.1:${this.place.port}`;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Resolves once /readyz answers 200. Throws with the end of the log if the process ends first.
   */
  async ready(): Promise<void> {
    const what = `${this.place.device} to be ready on ${this.address} (log: ${this.#logFile})`;
    const { guarded } = this.place;
    const options = {
      proof:
        guarded === null
          ? null
          : { by: 'authority' as const, ca: fs.readFileSync(guarded.authority, 'utf8') },
      timeoutMs: ANSWER_MS_MAX,
    };
    const ask = async (): Promise<boolean> =>
      !this.isRunning || (await getHttp(this.address, '/readyz', options)).status === 200;
    await waitFor(what, { ask, until: Boolean, deadlineMs: READY_MS_MAX, failure });
    if (!this.isRunning) {
      throw failure(`${this.place.device} ended before it was ready: ${this.#lastWords()}`);
    }
  }

  /** Kills the process like a machine failure: without notice, and nothing is flushed. */
  async killHard(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Asks the process to end, and kills it if it has not ended after ten seconds. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#exited;
    clearTimeout(killTimer);
  }

  /** For the exit of this program, when it cannot wait. */
  killNow(): void {
    this.#child.kill('SIGKILL');
  }

  #lastWords(): string {
    return fs.readFileSync(this.#logFile, 'utf8').trim().split('\n').slice(-5).join('\n');
  }
}

/** Returns the arguments of `ring-server`. */
export function serverArguments({ device, port, folder, guarded }: ServerPlace): string[] {
  const data = path.join(folder, device);
  const args = ['--data', data, '--listen', `127.0.0.1:${port}`, '--device', device];
  return guarded === null ? args : [...args, '--tls', guarded.bundle, '--trust', guarded.trust];
}
