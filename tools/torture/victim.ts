// One server that is made to suffer: supervised as an operator would, started again when it ends.
import fs from 'node:fs';
import path from 'node:path';
import type { Ring } from '@ringwright/ring/ring';
import { ServerUnderTest } from '../../test/support/server-under-test.ts';
import { type Control, calm, environment, writeControl } from './control.ts';
import { sourceOf } from './network.ts';
import type { Secured } from './secured.ts';
import type { SourcePatch } from './source-patches.ts';

/** Where processes give copies, at the ports of their proxies. */
export const copyHost = '127.0.0.2';
/** `ring-server` ends with it after its store failed. */
const STORE_FAILED_EXIT = 4;
/** Whatever else the machine does. */
const START_MS_MAX = 180_000;
const preload = new URL('./preload.ts', import.meta.url).href;

interface VictimPlace {
  readonly number: number;
  readonly folder: string;
  /** Of clients of the Redis protocol. */
  readonly keyspace: string;
  /** Where it listens. */
  readonly port: number;
  /** What the ring names: the proxy before it. */
  readonly proxyPort: number;
  readonly redisPort: number;
  /** Where it gives copies: the proxy before it has the same port at another address. */
  readonly copyPort: number;
  readonly patches: readonly SourcePatch[];
  readonly secured: Secured | null;
}

export class Victim {
  readonly place: VictimPlace;
  readonly server: ServerUnderTest;
  /** Ends that nobody caused, as sentences. */
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
      // Patched sources are others than those of people: runs may share one of their own.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(folder, 'compiled'),
    };
    const node = { options, environment: variables };
    const shown = secured === null ? {} : { shown: secured.operator };
    this.server = new ServerUnderTest({ device, zone: number + 1, port, data, node, ...shown });
  }

  get name(): string {
    return this.server.place.device;
  }

  /** As `ring-builder add` takes it. */
  get text(): string {
    return `r1z${this.place.number + 1}-127.0.0.1:${this.place.proxyPort}/${this.name}`;
  }

  /** Its number in this ring; -1: the ring does not name it. */
  idIn({ devices }: Ring): number {
    return devices.findIndex((device) => device?.port === this.place.proxyPort);
  }

  /** Of which it has files. */
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

  /**
   * Resolves when it listens; from then on it is started again whenever it ends. Safe to repeat.
   */
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
    const given = [...redis, ...copies, ...(secured?.serverArgs ?? [])];
    const args = ['--advertise', `127.0.0.1:${proxyPort}`, ...given];
    for (;;) {
      const firedBefore = this.fired().length;
      try {
        await this.server.start(args, START_MS_MAX);
        this.#supervision = this.#supervise(firedBefore);
        return;
      } catch (error) {
        // It may have met a failpoint in its start: then it is started again.
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

  /** Names of the failpoints that ended it. */
  fired(): string[] {
    const file = `${this.#controlFile}.fired`;
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Ends it in one of several ways; it stays down until it is started. */
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
