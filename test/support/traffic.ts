// Writers and readers over any running server, recorded as a history. Values are unique.
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '@ringwright/base/random';
import { waitFor } from '@ringwright/node/wait-for';
import { askRecord } from './ask-record.ts';
import { describe, violationsOf } from './history.ts';
import type { Operation } from './history-operation.ts';

/** Four clients then get about 150 answers a second, and faults take longer than ten answers. */
const PAUSE_MS = 20;
/** One in this many changes is a delete. */
const DELETE_EVERY = 12;
const FILLER = '.'.repeat(200);
const KEYS = 48;
const WRITERS = 2;
const READERS = 2;

interface TrafficShape {
  readonly keyspace: string;
  /** Ports of the coordinators, requested before every operation. */
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
  /** Numbers of operations acknowledged during each fault. */
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

  /** Returns the number of acknowledged changes or reads so far. */
  count(kind: 'change' | 'read'): number {
    const isWanted = (operation: Operation): boolean =>
      (operation.kind === 'read') === (kind === 'read');
    return this.operations.filter((one) => one.outcome === 'acked' && isWanted(one)).length;
  }

  /** Returns the rejected and unknown operations, as a sentence each. */
  failures(): string[] {
    const failed = ['rejected', 'unknown'];
    return this.operations.filter(({ outcome }) => failed.includes(outcome)).map(describe);
  }

  /**
   * Waits until this many further changes and reads have been acknowledged: the cluster answers.
   */
  async goesOn(wanted = 40): Promise<void> {
    const [changes, reads] = [this.count('change'), this.count('read')];
    await waitFor(`${wanted} more acknowledged writes and reads`, {
      ask: () => [this.count('change') - changes, this.count('read') - reads],
      until: (more) => more.every((count) => count >= wanted),
    });
  }

  /** Runs a fault and records how many operations are acknowledged during it. */
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
   * Stops the clients, reads every key through every server, and checks the whole history. Returns
   * everything wrong. A fault with too few acknowledged operations proves nothing and is reported.
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
