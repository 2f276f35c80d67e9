// Workers over all interfaces at once, with every operation recorded. Values are unique.

import { setTimeout as delay } from 'node:timers/promises';
import { pick, type Random, seededRandom } from '@ringwright/base/random';
import { askRecord, type OperationResult } from '../../test/support/ask-record.ts';
import type { Operation } from '../../test/support/history-operation.ts';
import { packageClient } from './clients/package-client.ts';
import { redisClient } from './clients/redis-client.ts';
import { scanPrefix } from './clients/scan-prefix.ts';
import type { WorkerClient } from './clients/worker-client.ts';
import { filledValue, withoutFiller } from './filled-value.ts';
import { noted } from './noted.ts';
import { keyspace, type Stage } from './stage.ts';

/** Leaves the servers part of two cores. */
const PAUSE_MS = 5;
/** After a failure: a server that is down recovers sooner when it is not asked all the time. */
const FAILED_PAUSE_MS = 60;
/** Half of the operations go to these keys, so that one key has many operations at once. */
const HOT_KEYS = 6;
const WARM_KEYS = 150;
/**
 * This many of the warm keys have large values only, about five per partition. So half of the
 * partitions are too large to travel as records (`smallPartitionBytesMax`), and go as files.
 */
const HEAVY_KEYS = 60;
const HEAVY = 'heavy/';
/** Number of keys with an unknown last write that are kept, because they are worth reading. */
const DOUBTFUL_KEYS = 4;
/** One in this many values is large, so that the log and the WALs turn over. */
const LARGE_EVERY = 16;
/** Pause between scans of the hot keys, because a page asks every partition. */
const SCAN_PAUSE_MS = 400;
/** After this time the hot keys change, so that the history of one key stays short. */
const EPOCH_MS = 30_000;

export class Workload {
  readonly #workers: Promise<void>[] = [];
  readonly #clients: WorkerClient[] = [];
  readonly #stage: Stage;
  readonly #begunMs = performance.now();
  /** Number of acknowledged operations. */
  acked = 0;
  readonly #doubtful: string[] = [];
  #values = 0;
  #isStopped = false;

  /** Makes a workload without workers. */
  constructor(stage: Stage) {
    this.#stage = stage;
  }

  static async begin(stage: Stage, seed: number): Promise<Workload> {
    const workload = new Workload(stage);
    const random = (number: number): Random => seededRandom(seed * 101 + number);
    const strong = { levels: ['quorum'] } as const;
    const clients = [
      httpClient(stage, random(11)),
      httpClient(stage, random(12)),
      httpClient(stage, random(13)),
      redisClient(stage, random(14)),
      redisClient(stage, random(15)),
      await packageClient(stage, { session: 'a', ...strong }),
      await packageClient(stage, { session: 'b', ...strong }),
      await packageClient(stage, { session: 'c', levels: ['one', 'quorum', 'all'] }),
    ];
    for (const [index, client] of clients.entries()) {
      workload.#clients.push(client);
      workload.#workers.push(workload.#work(client, random(index)));
    }
    workload.#workers.push(workload.#scan(random(16)));
    return workload;
  }

  async #work(client: WorkerClient, random: Random): Promise<void> {
    while (!this.#isStopped) {
      const draw = random.below(24);
      const kind = draw < 11 ? 'read' : draw === 11 ? 'delete' : 'write';
      const key = this.#key(random);
      const isDone = await this.#operate(client, {
        kind,
        key,
        level: pick(random, client.levels),
        large: key.startsWith(HEAVY) || random.below(LARGE_EVERY) === 0,
      });
      await delay(isDone ? PAUSE_MS : FAILED_PAUSE_MS);
    }
  }

  /** Records each scan as a quorum read of every key, also of keys that are missing in it. */
  async #scan(random: Random): Promise<void> {
    while (!this.#isStopped) {
      const prefix = this.#hotPrefix();
      const scan = scanPrefix(this.#stage, prefix, random);
      const keys = Array.from({ length: HOT_KEYS }, (_, index) => `${prefix}${index}`);
      const reads = keys.map((key) =>
        noted(this.#stage.history, { kind: 'read', key, value: null, level: 'quorum' }, () =>
          scan.then(
            (found) => ({ ...scanned(found.get(key)), port: 0 }),
            (error) => ({ outcome: 'rejected', stamp: null, reason: String(error), port: 0 }),
          ),
        ),
      );
      await Promise.all(reads);
      await delay(SCAN_PAUSE_MS);
    }
  }

  #hotPrefix(): string {
    return `hot/${Math.floor((performance.now() - this.#begunMs) / EPOCH_MS)}/`;
  }

  #key(random: Random): string {
    const draw = random.below(4);
    const doubtful = this.#doubtful[random.below(DOUBTFUL_KEYS)];
    if (draw === 0 && doubtful !== undefined) return doubtful;
    const warm = random.below(WARM_KEYS);
    if (draw < 2) return `${warm < HEAVY_KEYS ? HEAVY : 'warm/'}${warm}`;
    return `${this.#hotPrefix()}${random.below(HOT_KEYS)}`;
  }

  async #operate(
    client: WorkerClient,
    drawn: Pick<Operation, 'kind' | 'key' | 'level'> & { readonly large: boolean },
  ) {
    const { kind, key, level, large } = drawn;
    const name = `v${(this.#values += 1)} of ${key} `;
    const value = kind === 'write' ? name : null;
    const question = {
      kind,
      key,
      value: value === null ? null : filledValue(name, large),
      ...(level && { level }),
      ...(client.session && { session: client.session }),
    };
    const { outcome } = await noted(this.#stage.history, { ...question, value }, async () => {
      const answer = await client.ask(question);
      // The filler carries no information, but all of it must be there.
      return answer.value === undefined
        ? answer
        : { ...answer, value: withoutFiller(answer.value) };
    });
    if (outcome === 'acked') this.acked += 1;
    if (kind !== 'read' && outcome === 'unknown') {
      this.#doubtful.unshift(key);
      this.#doubtful.length = Math.min(this.#doubtful.length, DOUBTFUL_KEYS);
    }
    return outcome === 'acked';
  }

  /** Resolves when all workers have ended. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    for (const client of this.#clients) client.close?.();
  }

  /** Reads every key at `all` through every server, for the final state. */
  async readBack(): Promise<void> {
    const all = new Set(this.#stage.history.map(({ key }) => key));
    for (const [index] of this.#stage.victims.entries()) {
      const keys = [...all];
      const client = httpClient(this.#stage, { next: () => 0, below: () => index });
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
            await this.#operate(client, { kind: 'read', key, level: 'all', large: false });
          }
        }),
      );
    }
  }
}

function scanned(found: OperationResult | undefined): OperationResult {
  if (found === undefined) return { outcome: 'acked', stamp: null, value: null };
  return { ...found, value: withoutFiller(found.value ?? null) };
}

/** Returns a worker's client over HTTP, which uses any server. */
function httpClient(stage: Stage, random: Random): WorkerClient {
  const { secured } = stage;
  return {
    levels: ['quorum', 'quorum', 'quorum', 'all'],
    async ask(question) {
      const { port } = pick(random, stage.victims).place;
      const shown = secured?.worker ?? null;
      return { ...(await askRecord({ ...question, port, keyspace, shown })), port };
    },
  };
}
