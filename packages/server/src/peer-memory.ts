// Which data directory was last seen at each peer's address: peers.json. A wiped device is told
// that it was.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from './write-durably.ts';

const memorySchema = z.record(z.string(), z.string());

export class PeerMemory {
  readonly #file: string;
  readonly #born: Map<string, string>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, born: Map<string, string>) {
    this.#file = file;
    this.#born = born;
  }

  static async load(directory: string): Promise<PeerMemory> {
    const file = join(directory, 'peers.json');
    const text = await readFile(file, 'utf8').catch(() => '{}');
    return new PeerMemory(file, new Map(Object.entries(memorySchema.parse(JSON.parse(text)))));
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
    const bytes = Buffer.from(`${JSON.stringify(Object.fromEntries(this.#born))}\n`);
    this.#saving = this.#saving.then(() => writeDurably(this.#file, bytes)).catch(() => undefined);
  }

  /** Resolves when what was learned is on disk. */
  async close(): Promise<void> {
    await this.#saving;
  }
}
