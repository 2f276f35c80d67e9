// life.json: how old the data directory is, counted so that one put back from a backup is younger
// than its peers remember.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ageAfterRestore, ageLeadMax } from '@ringwright/base/limits-rings';
import { type Life, lifeSchema } from '@ringwright/wire/hello';
import { readState, writeState } from './state-file.ts';

/** Whether an age can have been counted since another one: ages rise a few times a minute. */
export function isCounted(told: Life, since: Life): boolean {
  return told.age - since.age <= ageLeadMax;
}

/**
 * The age rises with every start, and while the server runs before it greets its peers; each has a
 * mark by chance. What is told is on disk before. So peers that remember a higher age of the same
 * directory, or another mark of the same age, have seen what this copy of it never was.
 */
export class DeviceLife {
  readonly #file: string;
  #current: Life;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, current: Life) {
    this.#file = file;
    this.#current = current;
  }

  /** Begins the next age. Throws DISK_FAILED for a file that cannot be read. */
  static async begin(directory: string, born: string): Promise<DeviceLife> {
    const file = join(directory, 'life.json');
    const found = await readState(file, lifeSchema);
    const known = found?.born === born ? found : null;
    const life = new DeviceLife(file, known ?? { born, age: 0, mark: '' });
    await life.age().catch((error: unknown) => {
      // A full disk must not keep a server from its start: it tells the age of before again.
      if (known === null) throw error;
    });
    return life;
  }

  /** What peers are told. */
  get current(): Life {
    return this.#current;
  }

  /** Whether a peer that remembers this has met a later state of this directory. */
  isBefore(remembered: Life): boolean {
    const { born, age, mark } = this.#current;
    if (remembered.born !== born || !isCounted(remembered, this.#current)) return false;
    return remembered.age > age || (remembered.age === age && remembered.mark !== mark);
  }

  /** Durable when it resolves. */
  age(): Promise<void> {
    return this.#become(({ age }) => age + 1);
  }

  /** Older than what any peer remembers of the state that was lost. */
  outlive(remembered: Life): Promise<void> {
    return this.#become(({ age }) => Math.max(age, remembered.age) + ageAfterRestore);
  }

  #become(ageOf: (current: Life) => number): Promise<void> {
    const saved = this.#saving.then(() => this.#save(ageOf));
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #save(ageOf: (current: Life) => number): Promise<void> {
    const mark = randomBytes(8).toString('hex');
    const next: Life = { born: this.#current.born, age: ageOf(this.#current), mark };
    await writeState(this.#file, lifeSchema, next);
    this.#current = next;
  }
}
