// Deltas to the active ring for peers that have an older version, made once for all who ask.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import { readOwnFile } from '@ringwright/node/read-regular-file';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import type { RingHead } from '@ringwright/wire/hello';
import type { ActiveRing } from './active-ring.ts';
import { type RingCache, ringFileName } from './ring-cache.ts';
import { makeRingDeltaInWorker } from './ring-in-worker.ts';

export class RelayedDeltas {
  readonly #cache: RingCache;
  readonly #deltas = new WeakMap<ActiveRing, Map<string, Promise<Uint8Array | null>>>();

  constructor(cache: RingCache) {
    this.#cache = cache;
  }

  /** Returns null if the base is not in the cache, or the delta would save little. */
  from(base: RingHead, active: ActiveRing): Promise<Uint8Array | null> {
    const deltasByBase = getOrMake(this.#deltas, active, () => new Map());
    return getOrMake(deltasByBase, base.id, async () => {
      const delta = await this.#make(base, active);
      // A caller may name any base, so only bases that were in the cache are remembered.
      if (delta === null) deltasByBase.delete(base.id);
      return delta;
    });
  }

  async #make({ version, id }: RingHead, active: ActiveRing): Promise<Uint8Array | null> {
    const file = join(this.#cache.directory, active.ring.keyspace, ringFileName(version));
    try {
      const bytes = await readOwnFile(file);
      return splitRingFile(bytes).id === id
        ? await makeRingDeltaInWorker(bytes, active.bytes)
        : null;
    } catch (error) {
      // The base is gone or damaged, so the whole file travels instead.
      if (error instanceof CodedError || (error instanceof Error && 'code' in error)) return null;
      throw error;
    }
  }
}
