// The deltas of one push: from the version a server has to the one it gets, each made once.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { RingHead } from '@ringwright/wire/hello';

export type DeltaFrom = (base: RingHead) => Promise<Uint8Array | null>;

/** Null for rings that are not in the repository `rings`, or are too different. */
export function deltasTo(rings: string, version: StoredVersion): DeltaFrom {
  const made = new Map<string, Promise<Uint8Array | null>>();
  const make = async (base: RingHead): Promise<Uint8Array | null> => {
    const stored = await orCoded(readVersion(rings, version.ring.keyspace, base.version));
    // Without the base the whole file goes: a push must not fail for what it can do without.
    if (stored instanceof CodedError || stored.id !== base.id) return null;
    return makeRingDelta(stored.bytes, version.bytes);
  };
  return (base) => {
    const delta = made.get(base.id) ?? make(base);
    made.set(base.id, delta);
    return delta;
  };
}
