// Clients that increment a few keys by conditional writes, through any running server. Their
// answers become a history of registers, and the counts must add up.
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '@ringwright/base/random';
import { waitFor } from '@ringwright/node/wait-for';
import { askServer, type Response, refusalOf } from './ask-server.ts';
import { type RegisterOperation, unexplained } from './linearizable.ts';

type State = string | null;
type Operation = RegisterOperation<State> & { readonly key: string };
type Told = Pick<Operation, 'name' | 'apply'> & { readonly isOpen?: boolean };

/** Keeps the clients from taking both cores from the servers. */
const PAUSE_MS = 15;

interface CounterShape {
  readonly keyspace: string;
  /** Ports of the coordinators, requested before every operation. */
  readonly ports: () => readonly number[];
  readonly seed: number;
  readonly keys: number;
  readonly clients: number;
}

export class Counters {
  readonly #shape: CounterShape;
  readonly #running: Promise<void>[];
  readonly #history: Operation[] = [];
  /** Increments by key: the acknowledged ones, and those with an unknown outcome. */
  readonly #acked = new Map<string, number>();
  readonly #unknown = new Map<string, number>();
  #marks = 0;
  #isStopped = false;

  constructor(shape: CounterShape) {
    this.#shape = shape;
    this.#running = Array.from({ length: shape.clients }, (_, index) =>
      this.#run(seededRandom(shape.seed * 97 + index)),
    );
  }

  get acked(): number {
    return [...this.#acked.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Waits until this many further increments have been acknowledged. */
  async goesOn(wanted: number): Promise<void> {
    const before = this.acked;
    await waitFor(`${wanted} more additions`, {
      ask: () => this.acked - before,
      until: (more) => more >= wanted,
    });
  }

  /** Stops the clients, reads every counter, and returns everything that is wrong. */
  async verdict(): Promise<string[]> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    const faults: string[] = [];
    for (let index = 0; index < this.#shape.keys; index += 1) {
      const key = this.#key(index);
      const found = await this.#read(this.#shape.ports()[0] ?? 0, key);
      const [acked, unknown] = [this.#acked.get(key) ?? 0, this.#unknown.get(key) ?? 0];
      const count = Number(found?.value?.split(' ')[0] ?? 0);
      if (found === null || count < acked || count > acked + unknown) {
        faults.push(`${key} is ${count}: ${acked} were acknowledged, ${unknown} more are open`);
      }
      const ofKey = this.#history.filter((operation) => operation.key === key);
      const breach = unexplained(ofKey, null);
      if (breach !== null) faults.push(`${key}: ${breach}`);
    }
    return faults;
  }

  async #run(random: Random): Promise<void> {
    while (!this.#isStopped) {
      const key = this.#key(random.below(this.#shape.keys));
      const ports = this.#shape.ports();
      const [reader, writer] = [
        ports[random.below(ports.length)],
        ports[random.below(ports.length)],
      ];
      const found = await this.#read(reader ?? 0, key);
      if (found !== null) await this.#add(writer ?? 0, key, found);
      await delay(PAUSE_MS);
    }
  }

  #key(index: number): string {
    return `counter/${this.#shape.seed}/${index}`;
  }

  /** Returns null if the counter could not be read. */
  async #read(port: number, key: string) {
    let found: { readonly value: State; readonly etag: string | null } | null = null;
    await this.#operate(key, async () => {
      const response = await this.#ask(port, key, { method: 'GET', level: 'linearizable' });
      const isThere = response?.status === 200;
      if (response === null || (!isThere && refusalOf(response).code !== 'KEY_UNKNOWN')) {
        return { name: 'read failed', apply: (state) => ({ state }) };
      }
      const value = isThere ? response.bytes.toString() : null;
      found = { value, etag: isThere ? String(response.headers.etag) : null };
      return { name: `read ${value}`, apply: (state) => (state === value ? { state } : null) };
    });
    return found as { readonly value: State; readonly etag: string | null } | null;
  }

  async #add(
    port: number,
    key: string,
    { value, etag }: { readonly value: State; readonly etag: string | null },
  ): Promise<void> {
    const next = `${Number(value?.split(' ')[0] ?? 0) + 1} mark ${(this.#marks += 1)}`;
    const headers = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
    const apply = (state: State) => (state === value ? { state: next } : null);
    await this.#operate(key, async () => {
      const asked = { method: 'PUT', level: 'quorum', headers, body: next } as const;
      const response = await this.#ask(port, key, asked);
      const name = `${value} to ${next}`;
      if (response?.status === 204) {
        this.#acked.set(key, (this.#acked.get(key) ?? 0) + 1);
        return { name, apply };
      }
      const { code, details } = response === null ? unanswered : refusalOf(response);
      const isNowhere = code === 'PRECONDITION_FAILED' || details.outcome === 'rejected';
      if (isNowhere) return { name: `${name}: ${code}`, apply: (state) => ({ state }) };
      this.#unknown.set(key, (this.#unknown.get(key) ?? 0) + 1);
      return { name: `${name}: ${code}`, apply, isOpen: true };
    });
  }

  async #operate(key: string, work: () => Promise<Told>): Promise<void> {
    const invoked = performance.now();
    const { isOpen = false, ...told } = await work();
    const returned = isOpen ? Number.POSITIVE_INFINITY : performance.now();
    this.#history.push({ key, invoked, returned, ...told });
  }

  /** Returns null if no answer arrived. */
  #ask(
    port: number,
    key: string,
    { level, ...request }: { readonly method: 'GET' | 'PUT'; readonly level: string },
  ): Promise<Response | null> {
    const path = `/v1/${this.#shape.keyspace}/${key}?consistency=${level}`;
    return askServer(port, { ...request, path, keepAlive: true }).catch(() => null);
  }
}

const unanswered = { code: 'no answer', details: { outcome: 'unknown' } };
