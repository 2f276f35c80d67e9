// Lists the keys of a partition at a consistency level: pages of several slots, merged by key.
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { slotsOf } from '@ringwright/ring/slots-of';
import { keysAfter } from '@ringwright/wire/listing';
import type { AnswerOf } from '@ringwright/wire/message';
import { byteText } from '../replica/byte-text.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { askSlots } from './ask-slots.ts';
import { type Consistency, slotsNeeded } from './consistency.ts';
import { type CoordinatorPorts, withNewestRing } from './with-newest-ring.ts';

export interface ListRequest {
  readonly keyspace: string;
  readonly partition: number;
  /** Keys above this one; empty for the first. */
  readonly after: Uint8Array;
  readonly limit: number;
  readonly consistency: Consistency;
}

export interface KeyPage {
  /** Keys with values, in the order of their bytes. */
  readonly keys: readonly Uint8Array[];
  /** Where to go on; null at the end of the partition. */
  readonly next: Uint8Array | null;
}

type Page = AnswerOf<typeof keysAfter>;

/** Throws NOT_ENOUGH_REPLICAS, RING_UNKNOWN. */
export function coordinateList(
  ports: CoordinatorPorts,
  request: ListRequest,
): MaybePromise<KeyPage> {
  const { keyspace, partition, limit, consistency } = request;
  const nowMs = ports.clock.nowMs();
  const attempt = (active: ActiveRing): MaybePromise<KeyPage> => {
    const slots = slotsOf(active.ring, partition);
    const needed = slotsNeeded(consistency, slots.length);
    const about = { keyspace, ringVersion: active.ring.version, partition };
    const asked = { ...about, after: request.after, limit, nowMs };
    const ask = (device: number): MaybePromise<Page> =>
      ports.devices.call({ active, device }, keysAfter, asked);
    return andThen(askSlots({ active, slots, needed, ask }), (answers) =>
      mergePages(answers.map(({ answer }) => answer)),
    );
  };
  return withNewestRing(ports, keyspace, attempt);
}

/**
 * Pure. Up to the lowest last key of a page that goes on, every slot has said all it has: what is
 * above it waits for the next page. Of each key the newest record decides whether it is there.
 */
export function mergePages(pages: readonly Page[]): KeyPage {
  let end: Uint8Array | null = null;
  for (const { keys, more } of pages) {
    const last = keys.at(-1)?.[0];
    if (more && last !== undefined && (end === null || Buffer.compare(last, end) < 0)) end = last;
  }
  const newest = new Map<string, { key: Uint8Array; stamp: Stamp; deleted: boolean }>();
  for (const [key, ms, tie, deleted] of pages.flatMap(({ keys }) => keys)) {
    if (end !== null && Buffer.compare(key, end) > 0) continue;
    const name = byteText(key);
    const known = newest.get(name);
    const stamp = { ms, tie };
    if (known === undefined || compareStamps(stamp, known.stamp) > 0) {
      newest.set(name, { key, stamp, deleted });
    }
  }
  const keys = [...newest.values()].flatMap(({ key, deleted }) => (deleted ? [] : [key]));
  return { keys: keys.sort((a, b) => Buffer.compare(a, b)), next: end };
}
