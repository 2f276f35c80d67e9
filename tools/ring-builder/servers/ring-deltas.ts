// The deltas of one push: from the version that a server has to the pushed one, each computed once.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { RingHead } from '@ringwright/wire/hello';

export type DeltaFrom = (base: RingHead) => Promise<Uint8Array | null>;

/** Returns null for rings that are not in the repository `rings` or differ too much. */
export function deltasTo(rings: string, version: StoredVersion): DeltaFrom {
  const made = new Map<string, Promise<Uint8Array | null>>();
  const make = async (base: RingHead): Promise<Uint8Array | null> => {
    const stored = await orCoded(readVersion(rings, version.ring.keyspace, base.version));
    // Without the base the whole file is sent. A delta is optional and must not fail a push.
    if (stored instanceof CodedError || stored.id !== base.id) return null;
    return makeRingDelta(stored.bytes, version.bytes);
  };
  return (base) => {
    const delta = made.get(base.id) ?? make(base);
    made.set(base.id, delta);
    return delta;
  };
}
