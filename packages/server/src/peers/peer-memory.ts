// peers.json: which data directory was last seen at each peer's address, and how old it was. A
// device that was wiped or restored from a backup learns of that from its peers.
import { join } from 'node:path';
import { type Generation, generationSchema } from '@ringwright/wire/hello';
import { z } from 'zod';
import { isPlausibleAge } from '../device/device-generation.ts';
import { LatestState, readState } from '../device/state-file.ts';

/** Older releases remembered the id without an age. */
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

  /** Returns the latest known generation at an address; null if no server was met there. */
  recall(address: string): Generation | null {
    return this.#generations.get(address) ?? null;
  }

  /**
   * Whether learn() would store this generation. A new address is stored at once. Another directory
   * at a known address is stored only when it is settled, that is, has refilled: until then it must
   * keep hearing that it was wiped, even after a restart. For the same directory the highest age
   * counts, unless no server can have counted so far.
   */
  isNews(address: string, generation: Generation, settled: boolean): boolean {
    const known = this.#generations.get(address);
    if (known === undefined) return true;
    return known.born === generation.born
      ? generation.age > known.age && isPlausibleAge(generation, known)
      : settled;
  }

  /** To be called with what an address said on a connection that was made to it. */
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
