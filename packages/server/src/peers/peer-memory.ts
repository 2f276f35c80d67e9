// Which data directory was last seen at each peer's address, and how old: peers.json. A device that
// was wiped, or put back from a backup, is told that it was.
import { join } from 'node:path';
import { type Generation, generationSchema } from '@ringwright/wire/hello';
import { z } from 'zod';
import { isCounted } from '../device/device-generation.ts';
import { LatestState, readState } from '../device/state-file.ts';

/** Servers once remembered no age. */
const idAlone = z.string().transform((born): Generation => ({ born, age: 0, mark: '' }));
const memorySchema = z.record(z.string(), z.union([generationSchema, idAlone]));

export class PeerMemory {
  readonly #generations: Map<string, Generation>;
  readonly #state: LatestState<typeof memorySchema>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, generations: Map<string, Generation>) {
    this.#generations = generations;
    this.#state = new LatestState(file, memorySchema, () => Object.fromEntries(generations));
  }

  /** Throws DISK_FAILED. */
  static async load(directory: string): Promise<PeerMemory> {
    const file = join(directory, 'peers.json');
    const generations = await readState(file, memorySchema);
    return new PeerMemory(file, new Map(Object.entries(generations ?? {})));
  }

  /** The latest generation known of an address; null when nobody was met there. */
  recall(address: string): Generation | null {
    return this.#generations.get(address) ?? null;
  }

  /**
   * A newcomer is remembered at once. Another directory at a known address only when it is settled,
   * that is, has refilled: until then it must go on hearing that it was wiped, also after a
   * restart. Of one directory the highest age stays, unless no server can have counted so far.
   */
  isNews(address: string, generation: Generation, settled: boolean): boolean {
    const known = this.#generations.get(address);
    if (known === undefined) return true;
    return known.born === generation.born
      ? generation.age > known.age && isCounted(generation, known)
      : settled;
  }

  /** For what an address said on a connection that was made to it. */
  learn(address: string, generation: Generation, settled: boolean): void {
    if (!this.isNews(address, generation, settled)) return;
    this.#generations.set(address, generation);
    this.#saving = this.#state.save().catch(() => undefined);
  }

  /** Resolves when what was learned is on disk. */
  async close(): Promise<void> {
    await this.#saving;
  }
}
