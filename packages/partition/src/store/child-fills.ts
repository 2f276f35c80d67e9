// Which children of split or merged partitions are being filled, and what they received. One pass
// over the parents fills all children that are here.
import { type PartitionRef, partitionName } from '../file/data-paths.ts';
import type { Registry } from '../file/registry.ts';

export interface AdoptedChild {
  /** Including tombstones. */
  readonly rows: number;
  /** Bytes of values. */
  readonly bytes: number;
  /** Incarnation of the child's file after adoption. */
  readonly incarnation: string;
}

export class ChildFills {
  readonly #registry: Pick<Registry, 'get'>;
  readonly #runningFills = new Map<string, Promise<void>>();
  /** Children whose files were filled completely since the start. */
  readonly #adoptions = new Map<string, AdoptedChild>();

  constructor(registry: Pick<Registry, 'get'>) {
    this.#registry = registry;
  }

  /** Null unless the child's file has all rows of its parents and receives their new writes. */
  adoptedChild(child: PartitionRef): AdoptedChild | null {
    const adoption = this.#adoptions.get(partitionName(child));
    return adoption !== undefined && adoption.incarnation === this.#wholeIncarnation(child)
      ? adoption
      : null;
  }

  /** Returns the children that a pass beginning now may fill as well. */
  unfilled(children: readonly PartitionRef[]): PartitionRef[] {
    return children.filter(
      (child) =>
        this.#wholeIncarnation(child) !== null &&
        this.adoptedChild(child) === null &&
        !this.#runningFills.has(partitionName(child)),
    );
  }

  /**
   * The pass that is filling the child now; it settles, successful or not, with that pass. Null if
   * there is none.
   */
  underway(child: PartitionRef): Promise<void> | null {
    return this.#runningFills.get(partitionName(child)) ?? null;
  }

  /** `fill` must resolve when all children are filled. */
  async run(
    children: readonly PartitionRef[],
    fill: () => Promise<ReadonlyMap<number, AdoptedChild>>,
  ): Promise<void> {
    const pass = fill().then((adopted) => {
      for (const child of children) {
        const adoption = adopted.get(child.partition);
        if (adoption !== undefined) this.#adoptions.set(partitionName(child), adoption);
      }
    });
    for (const child of children) this.#runningFills.set(partitionName(child), pass);
    try {
      await pass;
    } finally {
      for (const child of children) this.#runningFills.delete(partitionName(child));
    }
  }

  /** Called when the reshape of a keyspace has ended. */
  forget(keyspace: string): void {
    for (const name of this.#adoptions.keys()) {
      if (name.startsWith(`${keyspace}/`)) this.#adoptions.delete(name);
    }
  }

  #wholeIncarnation({ keyspace, partition }: PartitionRef): string | null {
    const found = this.#registry.get(keyspace, partition);
    return found === undefined || found.damage !== null ? null : found.incarnation;
  }
}
