// peers.json: which data directory was last seen at each peer's address, and how old it was. A
// device that was wiped or restored from a backup learns of that from its peers.
import { join } from 'node:path';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
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

  /**
   * To be called when a ring is activated in place of another. What is known of a device at its
   * address is known at its new one too: a device that was wiped must hear of that there. An
   * address at which a server was met keeps what is known of that server.
   */
  follow(devices: Ring['devices'], before: Ring['devices']): void {
    const moved = devices.flatMap((device, id) => {
      const earlier = before[id] ?? null;
      if (device === null || earlier === null) return [];
      const known = this.recall(formatAddress(earlier));
      const to = formatAddress(device);
      return known === null || this.#generations.has(to) ? [] : [[to, known] as const];
    });
    if (moved.length === 0) return;
    for (const [to, known] of moved) this.#generations.set(to, known);
    this.#saving = this.#state.save().catch(() => undefined);
  }

  /** Resolves when what was learned is on disk. */
  async close(): Promise<void> {
    await this.#saving;
  }
}
