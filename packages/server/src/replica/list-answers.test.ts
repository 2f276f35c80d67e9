// Pages as a digest and as records, against a model: both have the same end and the same digest.
import { createHash } from 'node:crypto';
import { type KeyBounds, positionAfterKey } from '@ringwright/base/key-bounds';
import { listTurnBytesMax } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { isDeletedAt } from '@ringwright/partition/file/record';
import { hashRecord } from '@ringwright/partition/file/record-bytes';
import { unpackPage } from '@ringwright/wire/listing';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster } from '../../../../test/support/store-cluster.ts';
import { answerPage } from './list-answers.ts';

const nobody = { call: () => Promise.reject(new Error('rings come otherwise')) };
const about = { keyspace: 'cities', ringVersion: 1, partition: 0 };
const nowMs = firstMs + 1_000;

/** Includes bytes that end a text or do not belong in one. */
const keyBytes = [0, 1, 0x27, 0x6b, 0x80, 0xc3, 0xff];
/** Lengths of values. With the long ones a page ends before its limit. */
const lengths = [0, 1, 100, 20_000, listTurnBytesMax / 3, listTurnBytesMax - 10];

function recordOf(random: Random, at: number) {
  const length = lengths[random.below(random.below(4) === 0 ? lengths.length : 3)] ?? 0;
  return {
    key: Buffer.from(Array.from({ length: 1 + random.below(3) }, () => keyBytes[random.below(7)]!)),
    value: random.below(6) === 0 ? null : Buffer.alloc(length, at),
    ...{ ms: firstMs + at, tie: 0, origin: null },
    expiresMs: random.below(5) === 0 ? firstMs + random.below(2_000) : 0,
  };
}

type Held = ReturnType<typeof recordOf>;

function boundsIn(all: readonly Held[], random: Random): KeyBounds {
  const key = () => all[random.below(all.length)]!.key;
  const [low, high] = [key(), key()].sort((a, b) => Buffer.compare(a, b));
  return {
    from: random.below(3) === 0 ? Buffer.alloc(0) : low!,
    to: random.below(3) === 0 ? null : high!,
    reverse: random.below(2) === 0,
  };
}

/** The page of the model. `sorted`: all records by key. */
function pageOf(sorted: readonly Held[], { from, to, reverse }: KeyBounds, limit: number) {
  const within = sorted.filter(
    ({ key }) => Buffer.compare(key, from) >= 0 && (to === null || Buffer.compare(key, to) < 0),
  );
  if (reverse) within.reverse();
  let bytes = 0;
  const end = within.findIndex(({ key, value }, index) => {
    bytes += key.length + (value?.length ?? 0);
    return bytes >= listTurnBytesMax || index + 1 === limit;
  });
  const page = end === -1 ? within : within.slice(0, end + 1);
  const digest = createHash('sha256')
    .update(Buffer.concat(page.map(hashRecord)))
    .digest('hex');
  return {
    keys: page.map(({ key }) => key.toString('hex')),
    about: {
      digest: digest.slice(0, 16),
      gone: page.filter((record) => isDeletedAt(record, nowMs)).length,
      next: end === -1 ? null : Buffer.from(positionAfterKey(within[end]!.key, reverse)),
    },
  };
}

test.each([1, 2, 3, 4, 5, 6])('a page has the digest of its records (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  await using cluster = await StoreCluster.open([servedRing({ devices: 3, power: 0 })]);
  const { replica, store } = cluster.devices[0]!;
  await cluster.create(0, [0]);
  const held = new Map<string, Held>();
  for (let at = 0; at < 200; at += 1) {
    const record = recordOf(random, at);
    await store.write([{ ...about, ...record }]);
    held.set(record.key.toString('hex'), record);
  }
  const sorted = [...held.values()].sort((a, b) => Buffer.compare(a.key, b.key));
  for (let round = 0; round < 60; round += 1) {
    const bounds = boundsIn(sorted, random);
    const limit = 1 + random.below(random.below(2) === 0 ? 5 : 400);
    const wanted = pageOf(sorted, bounds, limit);
    const request = { ...about, ...bounds, limit, nowMs };
    const records = await answerPage(replica, { ...request, give: 'records' }, nobody);
    const digest = await answerPage(replica, { ...request, give: 'digest' }, nobody);
    const where = `seed ${seed}, round ${round}`;
    const next = (place: Uint8Array | null) => (place === null ? null : Buffer.from(place));
    expect(digest.rows.length, where).toBe(0);
    expect({ ...digest, next: next(digest.next) }, where).toMatchObject(wanted.about);
    expect({ ...records, next: next(records.next) }, where).toMatchObject(wanted.about);
    expect(unpackPage(records.rows).map(({ key }) => Buffer.from(key).toString('hex'))).toEqual(
      wanted.keys,
    );
  }
});
