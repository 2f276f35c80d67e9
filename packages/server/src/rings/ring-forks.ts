// The forks that this server has seen, by ring: alarms that last until an operator settles them,
// even over restarts.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { forkReasonCharactersMax } from '@ringwright/base/limits-rings';
import { makeDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { keyspaceField, ringIdField, versionField } from '@ringwright/wire/fields';
import type { RingHead } from '@ringwright/wire/hello';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';

const msField = z.int().min(0);

/** What is remembered of two lines of one ring. */
const ringForkSchema = z.strictObject({
  keyspace: keyspaceField,
  /** The version that exists twice. */
  version: versionField,
  /** Its ring id on this server's line, and on the other line. */
  id: ringIdField,
  other: ringIdField,
  /** Who showed the other line: the address of a peer, or empty for a push or a file. */
  from: z.string().max(300),
  atMs: msField,
  /** The operator's decision on which ring is right; null: none yet. */
  settled: z.nullable(
    z.strictObject({
      version: versionField,
      id: ringIdField,
      reason: z.string().max(forkReasonCharactersMax),
      atMs: msField,
    }),
  ),
});

export type RingFork = z.infer<typeof ringForkSchema>;

interface ForkPorts {
  readonly directory: string;
  readonly nowMs: () => number;
  /** Called for every new alarm, and for one that a start finds on disk. */
  readonly onAlarm: (fork: RingFork) => void;
  readonly onSettled: (fork: RingFork) => void;
}

const suffix = '.fork.json';

export class RingForks {
  readonly #ports: ForkPorts;
  readonly #forks = new Map<string, RingFork>();
  readonly #turns = new KeyedMutex();

  private constructor(ports: ForkPorts) {
    this.#ports = ports;
  }

  /** Throws DISK_FAILED: an alarm that cannot be read must not count as no alarm. */
  static async load(ports: ForkPorts): Promise<RingForks> {
    const forks = new RingForks(ports);
    const names = await readdir(ports.directory).catch(() => []);
    for (const name of names.filter((one) => one.endsWith(suffix))) {
      const fork = await readState(join(ports.directory, name), ringForkSchema);
      if (fork === null) continue;
      forks.#forks.set(fork.keyspace, fork);
      if (fork.settled === null) ports.onAlarm(fork);
    }
    return forks;
  }

  find(keyspace: string): RingFork | undefined {
    return this.#forks.get(keyspace);
  }

  /** Returns the fork that no operator has settled, or null. */
  alarm(keyspace: string): RingFork | null {
    const fork = this.#forks.get(keyspace);
    return fork?.settled === null ? fork : null;
  }

  /** Whether the fork is new: it raises one alarm, however often it is met. */
  isNews(keyspace: string, version: number): boolean {
    const fork = this.#forks.get(keyspace);
    // An alarm, or the operator's decision, covers the versions up to its own.
    return fork === undefined || (fork.settled !== null && version > fork.settled.version);
  }

  /** Resolves when the alarm is on disk. */
  raise(found: Omit<RingFork, 'atMs' | 'settled'>): Promise<void> {
    return this.#turns.run(found.keyspace, async () => {
      if (!this.isNews(found.keyspace, found.version)) return;
      const fork = { ...found, atMs: this.#ports.nowMs(), settled: null };
      this.#forks.set(fork.keyspace, fork);
      this.#ports.onAlarm(fork);
      await this.#save(fork);
    });
  }

  /** Records the operator's decision that this ring is right. Throws RING_FORK_UNKNOWN. */
  settle({ keyspace, version, id }: RingHead, reason: string): Promise<void> {
    return this.#turns.run(keyspace, async () => {
      const fork = this.#forks.get(keyspace);
      if (fork === undefined) {
        const message = `no fork of ring '${keyspace}' was ever seen here`;
        throw new CodedError('RING_FORK_UNKNOWN', message, { details: { keyspace } });
      }
      const settled = { ...fork, settled: { version, id, reason, atMs: this.#ports.nowMs() } };
      await this.#save(settled);
      this.#forks.set(keyspace, settled);
      this.#ports.onSettled(settled);
    });
  }

  /** Forgets the fork, because a new epoch starts the line over. */
  forget(keyspace: string): Promise<void> {
    return this.#turns.run(keyspace, async () => {
      if (this.#forks.delete(keyspace)) await rm(this.#file(keyspace), { force: true });
    });
  }

  async #save(fork: RingFork): Promise<void> {
    await makeDirectory(this.#ports.directory);
    await writeState(this.#file(fork.keyspace), ringForkSchema, fork);
  }

  #file(keyspace: string): string {
    return join(this.#ports.directory, `${keyspace}${suffix}`);
  }
}
