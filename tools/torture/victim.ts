// One tortured server: supervised as an operator would, and restarted when it ends.
import fs from 'node:fs';
import path from 'node:path';
import type { Ring } from '@ringwright/ring/ring';
import { ServerUnderTest } from '../../test/support/server-under-test.ts';
import { type Control, calm, environment, writeControl } from './control.ts';
import { sourceOf } from './network.ts';
import type { Secured } from './secured.ts';
import type { SourcePatch } from './source-patches.ts';

/** Address where helper processes give copies, at the ports of their proxies. */
export const copyHost = '127.0.0.2';
/** Exit code of `ring-server` after its store failed. */
const STORE_FAILED_EXIT = 4;
/** Sufficient on any busy machine. */
const START_MS_MAX = 180_000;
const preload = new URL('./preload.ts', import.meta.url).href;

interface VictimPlace {
  readonly number: number;
  readonly folder: string;
  /** Keyspace for clients of the Redis protocol. */
  readonly keyspace: string;
  /** Port where it listens. */
  readonly port: number;
  /** Port of its proxy, which the ring names. */
  readonly proxyPort: number;
  readonly redisPort: number;
  /** Port where it gives copies; its proxy has the same port at another address. */
  readonly copyPort: number;
  readonly patches: readonly SourcePatch[];
  readonly secured: Secured | null;
}

export class Victim {
  readonly place: VictimPlace;
  readonly server: ServerUnderTest;
  /** Exits without a fault as their cause, as sentences. */
  readonly crashes: string[] = [];
  #control: Control = calm;
  #isWanted = false;
  #supervision: Promise<void> = Promise.resolve();

  constructor(place: VictimPlace) {
    this.place = place;
    const { number, folder, port, patches, secured } = place;
    const device = `sd${number + 1}`;
    const data = path.join(folder, device);
    const options = ['--no-warnings', '--import', preload];
    const variables = {
      [environment.control]: `${data}.control`,
      [environment.patches]: JSON.stringify(patches),
      [environment.source]: sourceOf(number),
      // Patched sources differ from the normal ones, so runs share a compile cache of their own.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(folder, 'compiled'),
    };
    const node = { options, environment: variables };
    const shown = secured === null ? {} : { shown: secured.operator };
    this.server = new ServerUnderTest({ device, zone: number + 1, port, data, node, ...shown });
  }

  get name(): string {
    return this.server.place.device;
  }

  /** The device as `ring-builder add` takes it. */
  get text(): string {
    return `r1z${this.place.number + 1}-127.0.0.1:${this.place.proxyPort}/${this.name}`;
  }

  /** Returns its device id in this ring; -1 when the ring does not name it. */
  idIn({ devices }: Ring): number {
    return devices.findIndex((device) => device?.port === this.place.proxyPort);
  }

  /** Returns the partitions of which it has files. */
  partitions(): number[] {
    const home = path.join(this.server.place.data, 'partitions', this.place.keyspace);
    return fs.existsSync(home) ? fs.readdirSync(home).map(Number) : [];
  }

  get control(): Control {
    return this.#control;
  }

  set(control: Partial<Control>): void {
    this.#control = { ...this.#control, ...control };
    writeControl(this.#controlFile, this.#control);
  }

  get #controlFile(): string {
    return `${this.server.place.data}.control`;
  }

  /** Resolves when the server listens; from then on restarts it whenever it ends. Idempotent. */
  async start(): Promise<void> {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.set({});
    await this.#launch();
  }

  async #launch(): Promise<void> {
    const { keyspace, proxyPort, redisPort, copyPort, secured } = this.place;
    const copies = ['--copy-listen', `${copyHost}:${copyPort}`];
    const redis = ['--redis-port', String(redisPort), '--redis-keyspace', keyspace];
    const serviceArgs = [...redis, ...copies, ...(secured?.serverArgs ?? [])];
    const args = ['--advertise', `127.0.0.1:${proxyPort}`, ...serviceArgs];
    for (;;) {
      const firedBefore = this.fired().length;
      try {
        await this.server.start(args, START_MS_MAX);
        this.#supervision = this.#supervise(firedBefore);
        return;
      } catch (error) {
        // It may have met a failpoint during its start: then it is started again.
        if (this.fired().length === firedBefore) throw error;
        this.set({ failpoint: null });
      }
    }
  }

  async #supervise(firedBefore: number): Promise<void> {
    const code = await this.server.exited();
    if (!this.#isWanted) return;
    const storeFailed = code === STORE_FAILED_EXIT && this.#control.syncFails;
    if (this.fired().length === firedBefore && !storeFailed) {
      this.crashes.push(`${this.name} ended by itself with ${code}: ${this.#lastArgs()}`);
    }
    this.set({ failpoint: null, syncFails: false });
    await this.#launch().catch((error: unknown) => {
      if (this.#isWanted) this.crashes.push(`${this.name} did not start again: ${String(error)}`);
    });
  }

  #lastArgs(): string {
    return this.server.logText().trimEnd().split('\n').slice(-12).join('\n');
  }

  /** Returns the names of the failpoints that ended the server. */
  fired(): string[] {
    const file = `${this.#controlFile}.fired`;
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Ends the server in one of several ways; it stays down until it is started. */
  async end(how: 'kill' | 'cut' | 'stop'): Promise<number | null> {
    this.#isWanted = false;
    if (how === 'kill') await this.server.kill();
    else if (how === 'stop') return this.server.stop();
    else this.server.signal('SIGUSR2');
    const code = await this.server.exited();
    await this.#supervision;
    return code;
  }
}
