// Copies that were cut off in the middle: what has arrived, and the source's copy to resume from.
//
// They live as long as this process. A joiner that restarts starts over, because what it has staged
// may not be on its disk. To find out, it would have to read all of it. A new start costs one
// copied partition.

import type { CarrierEndpoint } from '@ringwright/partition/carrier/copy-work';
import type { CarrierCopy } from '@ringwright/partition/copy/carrier-copy';
import type { CopyDescription, CopyManifest } from '@ringwright/partition/copy/copy-manifest';
import type { IncomingCopy } from '@ringwright/partition/copy/incoming-copy';

/** Identifies a copy: it can be resumed only for the same move, from the same device. */
interface CopyName {
  readonly keyspace: string;
  readonly partition: number;
  readonly assignment: number | null;
  readonly source: number;
}

interface Begun extends CopyName {
  /** The source's name for the copy. By this name the source sends the same bytes, or nothing. */
  readonly copy: string;
}

/** Read in chunks from a snapshot at the source. */
export interface ChunkedCopy extends Begun {
  readonly kind: 'chunks';
  readonly manifest: CopyManifest;
  readonly incoming: IncomingCopy;
}

/** Fetched by the helper process beside the store. */
export interface FetchedCopy extends Begun {
  readonly kind: 'fetched';
  readonly description: CopyDescription;
  readonly incoming: CarrierCopy;
  /** Valid for one connection. */
  readonly endpoint: CarrierEndpoint;
  /** Bytes reported to the throttle so far. */
  noted: number;
}

export type BegunCopy = ChunkedCopy | FetchedCopy;

export class PartialCopies {
  readonly #copies = new Map<string, BegunCopy>();
  #closed = false;

  async keep(copy: BegunCopy): Promise<void> {
    if (this.#closed) await copy.incoming.discard();
    else this.#copies.set(keyOf(copy), copy);
  }

  /** Returns the copy to resume; discards any other copy of the partition. */
  async take(name: CopyName): Promise<BegunCopy | null> {
    const copy = this.#copies.get(keyOf(name));
    if (copy === undefined) return null;
    this.#copies.delete(keyOf(name));
    if (copy.assignment === name.assignment && copy.source === name.source) return copy;
    await copy.incoming.discard();
    return null;
  }

  /** Discards copies of a keyspace that will not be resumed. */
  async discardUnless(keyspace: string, isWanted: (name: CopyName) => boolean): Promise<void> {
    for (const [key, copy] of this.#copies) {
      if (copy.keyspace !== keyspace || isWanted(copy)) continue;
      this.#copies.delete(key);
      await copy.incoming.discard();
    }
  }

  /** Discards all copies, and from now on those that are cut off later. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { incoming } of this.#copies.values()) await incoming.discard();
    this.#copies.clear();
  }
}

function keyOf({ keyspace, partition }: CopyName): string {
  return `${keyspace}/${partition}`;
}
