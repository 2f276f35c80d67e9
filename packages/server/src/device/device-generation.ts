// life.json: how old the data directory is, counted so that one put back from a backup is younger
// than its peers remember.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { generationLeadMax, generationsAfterRestore } from '@ringwright/base/limits-rings';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { type Generation, generationSchema } from '@ringwright/wire/hello';
import { readState, writeState } from './state-file.ts';

/** Whether an age can have been counted since another one: ages rise a few times a minute. */
export function isCounted(generation: Generation, since: Generation): boolean {
  return generation.age - since.age <= generationLeadMax;
}

/**
 * The age rises with every start, and while the server runs before it greets its peers; each has a
 * mark by chance. What is told is on disk before. So peers that remember a higher age of the same
 * directory, or another mark of the same age, have seen what this copy of it never was.
 */
export class DeviceGeneration {
  readonly #file: string;
  #current: Generation;
  readonly #turns = new KeyedMutex();

  private constructor(file: string, current: Generation) {
    this.#file = file;
    this.#current = current;
  }

  /** Begins the next age. Throws DISK_FAILED for a file that cannot be read. */
  static async begin(directory: string, born: string): Promise<DeviceGeneration> {
    const file = join(directory, 'life.json');
    const found = await readState(file, generationSchema);
    const known = found?.born === born ? found : null;
    const generation = new DeviceGeneration(file, known ?? { born, age: 0, mark: '' });
    await generation.advance().catch((error: unknown) => {
      // A full disk must not keep a server from its start: it tells the age of before again.
      if (known === null) throw error;
    });
    return generation;
  }

  /** What peers are told. */
  get current(): Generation {
    return this.#current;
  }

  /** Whether a peer that remembers this has met a later state of this directory. */
  isBefore(remembered: Generation): boolean {
    const { born, age, mark } = this.#current;
    if (remembered.born !== born || !isCounted(remembered, this.#current)) return false;
    return remembered.age > age || (remembered.age === age && remembered.mark !== mark);
  }

  /** Durable when it resolves. */
  advance(): Promise<void> {
    return this.#turns.run('life', () => this.#save(({ age }) => age + 1));
  }

  /** Older than what any peer remembers of the state that was lost. */
  surpass(remembered: Generation): Promise<void> {
    const ageOf = ({ age }: Generation) => Math.max(age, remembered.age) + generationsAfterRestore;
    return this.#turns.run('life', () => this.#save(ageOf));
  }

  async #save(ageOf: (current: Generation) => number): Promise<void> {
    const mark = randomBytes(8).toString('hex');
    const next: Generation = { born: this.#current.born, age: ageOf(this.#current), mark };
    await writeState(this.#file, generationSchema, next);
    this.#current = next;
  }
}
