// life.json: the age of the data directory, counted so that a directory restored from a backup is
// younger than its peers remember.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { generationLeadMax, generationsAfterRestore } from '@ringwright/base/limits-rings';
import { isRaised, lowerFlag, raiseFlag } from '@ringwright/node/durable-flag';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { type Generation, generationSchema } from '@ringwright/wire/hello';
import { readState, writeState } from './state-file.ts';

/** Whether an age can have been counted up from another one: ages rise a few times a minute. */
export function isPlausibleAge(generation: Generation, since: Generation): boolean {
  return generation.age - since.age <= generationLeadMax;
}

/**
 * The age rises with every start, and before each round of greetings while the server runs. Each
 * age has a random mark. Both are on disk before peers hear them. So peers that remember a higher
 * age of the same directory, or another mark of the same age, have seen a state that this copy
 * never had.
 */
export class DeviceGeneration {
  readonly #file: string;
  readonly #flag: string;
  #isRestored: boolean;
  #current: Generation;
  readonly #turns = new KeyedMutex();

  private constructor(directory: string, current: Generation) {
    this.#file = fileIn(directory);
    this.#flag = join(directory, 'put-back');
    this.#isRestored = isRaised(this.#flag);
    this.#current = current;
  }

  /** Begins the next age. Throws DISK_FAILED for a file that cannot be read. */
  static async begin(directory: string, born: string): Promise<DeviceGeneration> {
    const found = await readState(fileIn(directory), generationSchema);
    const known = found?.born === born ? found : null;
    const generation = new DeviceGeneration(directory, known ?? { born, age: 0, mark: '' });
    await generation.advance().catch((error: unknown) => {
      // A full disk must not keep a server from starting: it then reports the previous age again.
      if (known === null) throw error;
    });
    return generation;
  }

  /** What peers are told. */
  get current(): Generation {
    return this.#current;
  }

  /** Whether a peer that remembers this generation has met a later state of this directory. */
  isOlderThan(remembered: Generation): boolean {
    const { born, age, mark } = this.#current;
    if (remembered.born !== born || !isPlausibleAge(remembered, this.#current)) return false;
    return remembered.age > age || (remembered.age === age && remembered.mark !== mark);
  }

  /** Durable when it resolves. */
  advance(): Promise<void> {
    return this.#turns.run('life', () => this.#save(({ age }) => age + 1));
  }

  /**
   * Begins an age beyond all that any peer remembers of the lost state. From now on the directory
   * counts as restored from a backup.
   */
  advanceBeyond(remembered: Generation): Promise<void> {
    const ageOf = ({ age }: Generation) => Math.max(age, remembered.age) + generationsAfterRestore;
    return this.#turns.run('life', async () => {
      await raiseFlag(this.#flag);
      this.#isRestored = true;
      await this.#save(ageOf);
    });
  }

  /**
   * Whether the directory was restored from a backup, and may have held partitions that neither its
   * files nor its rings name yet.
   */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** To be called when the directory has the rings of its peers, and what these rings give it. */
  clearRestored(): Promise<void> {
    return this.#turns.run('life', async () => {
      await lowerFlag(this.#flag);
      this.#isRestored = false;
    });
  }

  async #save(ageOf: (current: Generation) => number): Promise<void> {
    const mark = randomBytes(8).toString('hex');
    const next: Generation = { born: this.#current.born, age: ageOf(this.#current), mark };
    await writeState(this.#file, generationSchema, next);
    this.#current = next;
  }
}

function fileIn(directory: string): string {
  return join(directory, 'life.json');
}
