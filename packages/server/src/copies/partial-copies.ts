// Copies that were cut off in the middle: what has come, and the snapshot they can go on with.
//
// They live as long as this process. A joiner that restarts begins anew: what it has staged may not
// be on its disk. To find out, it would read all of it; a new start costs one copied partition.

import type { CopyGate } from '@ringwright/partition/carry/copy-work';
import type { CopyDescription, CopyManifest } from '@ringwright/partition/copy/copy-manifest';
import type { IncomingCopy } from '@ringwright/partition/copy/incoming-copy';
import type { TakenCopy } from '@ringwright/partition/copy/taken-copy';

/** Which copy it is: one that goes on must be for the same move, from the same device. */
interface CopyName {
  readonly keyspace: string;
  readonly partition: number;
  readonly assignment: number | null;
  readonly source: number;
}

interface Begun extends CopyName {
  /** What the source calls it: it gives the same bytes, or nothing, by this name. */
  readonly copy: string;
}

/** Of a snapshot there. */
export interface ChunkedCopy extends Begun {
  readonly kind: 'chunks';
  readonly manifest: CopyManifest;
  readonly incoming: IncomingCopy;
}

/** By the process beside the store. */
export interface FetchedCopy extends Begun {
  readonly kind: 'fetched';
  readonly about: CopyDescription;
  readonly incoming: TakenCopy;
  /** For one connection. */
  readonly gate: CopyGate;
  /** Bytes that the throttle was told of. */
  noted: number;
}

export type BegunCopy = ChunkedCopy | FetchedCopy;

export class PartialCopies {
  readonly #kept = new Map<string, BegunCopy>();
  #closed = false;

  async keep(begun: BegunCopy): Promise<void> {
    if (this.#closed) await begun.incoming.discard();
    else this.#kept.set(keyOf(begun), begun);
  }

  /** The one to go on with; any other of the partition is discarded. */
  async take(name: CopyName): Promise<BegunCopy | null> {
    const kept = this.#kept.get(keyOf(name));
    if (kept === undefined) return null;
    this.#kept.delete(keyOf(name));
    if (kept.assignment === name.assignment && kept.source === name.source) return kept;
    await kept.incoming.discard();
    return null;
  }

  /** Discards those of a keyspace that nobody will go on with. */
  async discardUnless(keyspace: string, isWanted: (name: CopyName) => boolean): Promise<void> {
    for (const [key, kept] of this.#kept) {
      if (kept.keyspace !== keyspace || isWanted(kept)) continue;
      this.#kept.delete(key);
      await kept.incoming.discard();
    }
  }

  /** What is cut off from here on is discarded too. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { incoming } of this.#kept.values()) await incoming.discard();
    this.#kept.clear();
  }
}

function keyOf({ keyspace, partition }: CopyName): string {
  return `${keyspace}/${partition}`;
}
