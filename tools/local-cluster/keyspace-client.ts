// The application's client: the package of the project, and every call again until it is answered.
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { failure } from './failure.ts';

/** A quorum of local servers answers in milliseconds; ten seconds means that it will not. */
const ATTEMPT_MS_MAX = 10_000;
const OPERATION_MS_MAX = 30_000;
const PAUSE_MS = 10;

interface Attempts {
  /** Without an answer: whether they took effect is unknown. */
  readonly unanswered: number;
  readonly refused: number;
}

export class KeyspaceClient {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Of the servers on these ports; those that join are learned from the ring. */
  static async of(keyspace: string, ports: readonly number[]): Promise<KeyspaceClient> {
    const addresses = ports.map((port) => `127.0.0.1:${port}`);
    return new KeyspaceClient(await connect(addresses, { keyspace, timeoutMs: ATTEMPT_MS_MAX }));
  }

  /** Written at quorum. Throws after 30 s, or when told that it is wrong. */
  async put(key: string, value: string): Promise<Attempts> {
    const { attempts } = await until(`put ${key}`, () => this.#client.put(key, value));
    return attempts;
  }

  /** Read at quorum; null: there is no such record. */
  async get(key: string): Promise<{ readonly value: string | null; readonly attempts: Attempts }> {
    const { result, attempts } = await until(`get ${key}`, () => this.#client.get(key));
    return { value: result === null ? null : Buffer.from(result.value).toString(), attempts };
  }

  close(): void {
    void this.#client.close();
  }
}

async function until<Result>(
  what: string,
  call: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly attempts: Attempts }> {
  const deadline = performance.now() + OPERATION_MS_MAX;
  let [unanswered, refused] = [0, 0];
  for (;;) {
    try {
      return { result: await call(), attempts: { unanswered, refused } };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      const { outcome, retry } = error;
      if (outcome === 'maybe-done') unanswered += 1;
      else refused += 1;
      // One that was overtaken by its own earlier attempt is made again too.
      const mayHelp = outcome !== 'not-done' || retry !== 'never';
      if (mayHelp && performance.now() < deadline) await delay(PAUSE_MS);
      else throw failure(`${what} failed: ${String(error)}`, '', error);
    }
  }
}
