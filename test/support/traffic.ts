// Writers and readers over any server that runs, recorded as a history. Values are unique.
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '@ringwright/base/random';
import { waitFor } from '@ringwright/node/wait-for';
import { askRecord } from './ask-record.ts';
import { describe, type Operation, violationsOf } from './history.ts';

/** Four clients then have some 150 requests a second answered: faults take longer than ten. */
const PAUSE_MS = 20;
/** Deletes among the changes: one in so many. */
const DELETE_EVERY = 12;
const FILLER = '.'.repeat(200);
const KEYS = 48;
const WRITERS = 2;
const READERS = 2;

interface TrafficShape {
  readonly keyspace: string;
  /** Coordinators, asked before every operation. */
  readonly ports: () => readonly number[];
  readonly seed: number;
}

interface Window {
  readonly name: string;
  readonly writes: number;
  readonly reads: number;
}

export class Traffic {
  readonly operations: Operation[] = [];
  /** Acknowledged operations within each fault. */
  readonly windows: Window[] = [];
  readonly #shape: TrafficShape;
  readonly #keys: readonly string[];
  readonly #clients: Promise<void>[] = [];
  #values = 0;
  #stopped = false;

  constructor(shape: TrafficShape) {
    const { seed } = shape;
    this.#shape = shape;
    this.#keys = Array.from({ length: KEYS }, (_, index) => `key/${seed}/${index}`);
    for (let client = 0; client < WRITERS + READERS; client += 1) {
      const random = seededRandom(seed * 31 + client);
      this.#clients.push(this.#run(random, client < WRITERS));
    }
  }

  /** Acknowledged changes and reads so far. */
  count(kind: 'change' | 'read'): number {
    const isWanted = (operation: Operation): boolean =>
      (operation.kind === 'read') === (kind === 'read');
    return this.operations.filter((one) => one.outcome === 'acked' && isWanted(one)).length;
  }

  /** Operations that were not answered as they should be, as sentences. */
  failures(): string[] {
    const failed = ['rejected', 'unknown'];
    return this.operations.filter(({ outcome }) => failed.includes(outcome)).map(describe);
  }

  /** Resolves when so many more changes and reads were acknowledged: the cluster answers. */
  async goesOn(wanted = 40): Promise<void> {
    const [changes, reads] = [this.count('change'), this.count('read')];
    await waitFor(`${wanted} more acknowledged writes and reads`, {
      ask: () => [this.count('change') - changes, this.count('read') - reads],
      until: (more) => more.every((count) => count >= wanted),
    });
  }

  /** Runs a fault, and notes how much was acknowledged within it. */
  async within(name: string, fault: () => Promise<void>): Promise<void> {
    const [writes, reads] = [this.count('change'), this.count('read')];
    await fault();
    const now = { writes: this.count('change'), reads: this.count('read') };
    this.windows.push({ name, writes: now.writes - writes, reads: now.reads - reads });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#clients);
  }

  /**
   * Stops, reads every key back over every server and checks the whole history. Returns what is
   * wrong; a fault without enough acknowledged operations within it has proved nothing.
   */
  async verdict(ackedPerFault = 20): Promise<string[]> {
    await this.stop();
    for (const key of this.#keys) {
      for (const port of this.#shape.ports()) await this.#operate(port, { kind: 'read', key });
    }
    const empty = this.windows.filter(
      ({ writes, reads }) => writes < ackedPerFault || reads < ackedPerFault,
    );
    return [
      ...violationsOf(this.operations),
      ...empty.map(({ name, writes, reads }) => `${name}: only ${writes} writes, ${reads} reads`),
    ];
  }

  async #run(random: Random, writes: boolean): Promise<void> {
    for (let turn = 1; !this.#stopped; turn += 1) {
      const key = this.#keys[random.below(this.#keys.length)] ?? '';
      const change = turn % DELETE_EVERY === 0 ? 'delete' : 'write';
      const ports = this.#shape.ports();
      const port = ports[random.below(ports.length)];
      if (port !== undefined) await this.#operate(port, { kind: writes ? change : 'read', key });
      await delay(PAUSE_MS);
    }
  }

  async #operate(port: number, { kind, key }: Pick<Operation, 'kind' | 'key'>): Promise<void> {
    const value = kind === 'write' ? `v${(this.#values += 1)} of ${key} ${FILLER}` : null;
    const invokedMs = performance.now();
    const about = { port, keyspace: this.#shape.keyspace };
    const told = await askRecord({ ...about, kind, key, value });
    const returnedMs = performance.now();
    this.operations.push({ kind, key, value, ...told, invokedMs, returnedMs, port });
  }
}
