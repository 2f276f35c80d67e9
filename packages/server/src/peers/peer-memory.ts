// Which data directory was last seen at each peer's address, and how old: peers.json. A device that
// was wiped, or put back from a backup, is told that it was.
import { join } from 'node:path';
import { type Life, lifeSchema } from '@ringwright/wire/hello';
import { z } from 'zod';
import { isCounted } from '../device/device-life.ts';
import { readState, writeState } from '../device/state-file.ts';

/** Servers once remembered no age. */
const bornAlone = z.string().transform((born): Life => ({ born, age: 0, mark: '' }));
const memorySchema = z.record(z.string(), z.union([lifeSchema, bornAlone]));

export class PeerMemory {
  readonly #file: string;
  readonly #lives: Map<string, Life>;
  #saving: Promise<void> = Promise.resolve();
  #unsaved = false;

  private constructor(file: string, lives: Map<string, Life>) {
    this.#file = file;
    this.#lives = lives;
  }

  /** Throws DISK_FAILED. */
  static async load(directory: string): Promise<PeerMemory> {
    const file = join(directory, 'peers.json');
    const lives = await readState(file, memorySchema);
    return new PeerMemory(file, new Map(Object.entries(lives ?? {})));
  }

  /** The latest life known of an address; null when nobody was met there. */
  recall(address: string): Life | null {
    return this.#lives.get(address) ?? null;
  }

  /**
   * A newcomer is remembered at once. Another directory at a known address only when it is settled,
   * that is, has refilled: until then it must go on hearing that it was wiped, also after a
   * restart. Of one directory the highest age stays, unless no server can have counted so far.
   */
  isNews(address: string, life: Life, settled: boolean): boolean {
    const known = this.#lives.get(address);
    if (known === undefined) return true;
    return known.born === life.born ? life.age > known.age && isCounted(life, known) : settled;
  }

  /** For what an address said on a connection that was made to it. */
  learn(address: string, life: Life, settled: boolean): void {
    if (!this.isNews(address, life, settled)) return;
    this.#lives.set(address, life);
    this.#unsaved = true;
    this.#saving = this.#saving.then(() => this.#save()).catch(() => undefined);
  }

  /** One write for all that was learned while the one before was under way. */
  async #save(): Promise<void> {
    if (!this.#unsaved) return;
    this.#unsaved = false;
    await writeState(this.#file, memorySchema, Object.fromEntries(this.#lives));
  }

  /** Resolves when what was learned is on disk. */
  async close(): Promise<void> {
    await this.#saving;
  }
}
