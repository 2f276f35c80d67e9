// Which children of partitions that are split or merged are being filled, and what they were given:
// one pass over the parents fills all that are here.
import type { Registry } from '../file/registry.ts';

interface Place {
  readonly keyspace: string;
  readonly partition: number;
}

export interface AdoptedChild {
  /** With tombstones. */
  readonly rows: number;
  /** Of values. */
  readonly bytes: number;
  /** Of its file from now on. */
  readonly incarnation: string;
}

export class ChildFills {
  readonly #registry: Pick<Registry, 'get'>;
  readonly #underway = new Map<string, Promise<void>>();
  /** Of files that were filled whole since the start. */
  readonly #given = new Map<string, AdoptedChild>();

  constructor(registry: Pick<Registry, 'get'>) {
    this.#registry = registry;
  }

  /** Null unless the child's file has all of its parents, and hears of what comes. */
  given(child: Place): AdoptedChild | null {
    const given = this.#given.get(nameOf(child));
    return given !== undefined && given.incarnation === this.#whole(child) ? given : null;
  }

  /** Those that a pass beginning now may fill as well. */
  unfilled(children: readonly Place[]): Place[] {
    return children.filter(
      (child) =>
        this.#whole(child) !== null &&
        this.given(child) === null &&
        !this.#underway.has(nameOf(child)),
    );
  }

  /** Ends, well or not, as the pass that fills the child now; null when there is none. */
  underway(child: Place): Promise<void> | null {
    return this.#underway.get(nameOf(child)) ?? null;
  }

  /** `fill` resolves when all of them are filled. */
  async run(
    children: readonly Place[],
    fill: () => Promise<ReadonlyMap<number, AdoptedChild>>,
  ): Promise<void> {
    const pass = fill().then((adopted) => {
      for (const child of children) {
        const given = adopted.get(child.partition);
        if (given !== undefined) this.#given.set(nameOf(child), given);
      }
    });
    for (const child of children) this.#underway.set(nameOf(child), pass);
    try {
      await pass;
    } finally {
      for (const child of children) this.#underway.delete(nameOf(child));
    }
  }

  /** The reshaping of a keyspace has ended. */
  forget(keyspace: string): void {
    for (const name of this.#given.keys()) {
      if (name.startsWith(nameOf({ keyspace, partition: '' }))) this.#given.delete(name);
    }
  }

  #whole({ keyspace, partition }: Place): string | null {
    const found = this.#registry.get(keyspace, partition);
    return found === undefined || found.damage !== null ? null : found.incarnation;
  }
}

function nameOf({ keyspace, partition }: { keyspace: string; partition: number | '' }): string {
  return `${keyspace}/${partition}`;
}
