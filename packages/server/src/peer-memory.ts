// Which data directory was last seen at each peer's address: peers.json. A wiped device is told
// that it was.
import { join } from 'node:path';
import { peersRememberedMax } from '@ringwright/base/limits-rings';
import { z } from 'zod';
import { readIfThere } from './read-if-there.ts';
import { writeDurably } from './write-durably.ts';

const memorySchema = z.record(z.string(), z.string());

export class PeerMemory {
  readonly #file: string;
  readonly #born: Map<string, string>;
  #saving: Promise<void> = Promise.resolve();
  #unsaved = false;

  private constructor(file: string, born: Map<string, string>) {
    this.#file = file;
    this.#born = born;
  }

  /** Throws DISK_FAILED. */
  static async load(directory: string): Promise<PeerMemory> {
    const file = join(directory, 'peers.json');
    const born = await readIfThere(file, (text) => memorySchema.parse(JSON.parse(text)));
    return new PeerMemory(file, new Map(Object.entries(born ?? {})));
  }

  get isFull(): boolean {
    return this.#born.size >= peersRememberedMax;
  }

  /** The `born` id last known of an address; null when nobody was met there. */
  recall(address: string): string | null {
    return this.#born.get(address) ?? null;
  }

  /**
   * A newcomer is remembered at once. Another directory at a known address only when it is settled,
   * that is, has
   * refilled: until then it must go on hearing that it was wiped, also after a restart.
   */
  learn(address: string, born: string, settled: boolean): void {
    const known = this.#born.get(address);
    if (known === born || (known !== undefined && !settled)) return;
    this.#born.set(address, born);
    this.#unsaved = true;
    this.#saving = this.#saving.then(() => this.#save()).catch(() => undefined);
  }

  /** One write for all that was learned while the one before was under way. */
  async #save(): Promise<void> {
    if (!this.#unsaved) return;
    this.#unsaved = false;
    const bytes = Buffer.from(`${JSON.stringify(Object.fromEntries(this.#born))}\n`);
    await writeDurably(this.#file, bytes);
  }

  /** Resolves when what was learned is on disk. */
  async close(): Promise<void> {
    await this.#saving;
  }
}
