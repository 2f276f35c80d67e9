// Lists a keyspace partition by partition: the next keys behind a place.
import { setImmediate } from 'node:timers/promises';
import { listKeysMax } from '@ringwright/base/limits';
import type { Consistency } from './consistency.ts';
import { coordinateList } from './coordinate-list.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

/** Good under every ring of a keyspace: the partition of a key never changes. */
export interface KeyPlace {
  readonly partition: number;
  /** Keys above this one; empty for the whole partition. */
  readonly after: Uint8Array;
}

export interface KeyListing {
  readonly keys: readonly Uint8Array[];
  /** Where to go on; beyond the last partition at the end. */
  readonly place: KeyPlace;
}

/** Partitions looked at in one answer: of a nearly empty keyspace a scan takes few round trips. */
const PARTITIONS_AT_ONCE = 64;

/**
 * The wanted ones among at most `limit` keys with values from `place` on, below partition `end`.
 * Every one that is there from the first call to the last is given. Throws as coordinateList.
 */
export async function listKeyspace(
  ports: CoordinatorPorts,
  request: {
    readonly keyspace: string;
    readonly place: KeyPlace;
    readonly end: number;
    /** Keys looked at, wanted or not. */
    readonly limit: number;
    readonly isWanted?: (key: Uint8Array) => boolean;
    readonly consistency: Consistency;
  },
): Promise<KeyListing> {
  const { keyspace, end, limit, isWanted, consistency } = request;
  const keys: Uint8Array[] = [];
  let { place } = request;
  let [looked, turnEnds] = [0, listKeysMax];
  for (let turn = 0; turn < PARTITIONS_AT_ONCE && looked < limit; turn += 1) {
    if (place.partition >= end) break;
    const page = await coordinateList(ports, {
      keyspace,
      ...place,
      limit: Math.min(limit - looked, listKeysMax),
      consistency,
    });
    looked += Math.max(page.keys.length, 1);
    keys.push(...(isWanted === undefined ? page.keys : page.keys.filter(isWanted)));
    if (looked >= turnEnds) {
      // What lies here comes in the same turn, and a pattern takes some 40 us a key at worst.
      await setImmediate();
      turnEnds = looked + listKeysMax;
    }
    place =
      page.next === null
        ? { partition: place.partition + 1, after: new Uint8Array() }
        : { partition: place.partition, after: page.next };
  }
  return { keys, place };
}
