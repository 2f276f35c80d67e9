// Tests the check whether another file covers this one, judged by its last rows. The oracle
// compares the highest stamp of each key. The check must never say yes wrongly.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';
import type { Store } from '../store.ts';

const seed = 20261123;
const rounds = 120;
const keyCount = 12;

const random = seededRandom(seed);
const place = (partition: number) => ({ keyspace: 'test', partition });

/** Fills both partitions. Returns whether the second has each record of the first or a newer one. */
async function fill(store: Store, [mine, theirs]: readonly [number, number]): Promise<boolean> {
  const highest = new Map(
    [mine, theirs].map((partition) => [partition, new Map<string, number>()]),
  );
  for (const partition of highest.keys()) await store.create('test', partition, 'ready');
  // At first both get the same writes. Later the second one gets most of them, and rarely the
  // first.
  for (let step = 0; step < 30; step += 1) {
    const key = `k${random.below(keyCount)}`;
    const ms = 1 + random.below(step < 15 ? 20 : 60);
    const isCommon = step < 15 && random.below(40) > 0;
    for (const partition of isCommon ? [mine, theirs] : [random.below(30) === 0 ? mine : theirs]) {
      const held = highest.get(partition);
      held?.set(key, Math.max(held.get(key) ?? 0, ms));
      await store.write([write(key, `${key}-${ms}`, ms, partition)]);
    }
  }
  const others = highest.get(theirs);
  return [...(highest.get(mine) ?? [])].every(([key, ms]) => (others?.get(key) ?? 0) >= ms);
}

test('a file is covered only if the other has each record or a newer one of its key', async () => {
  const answers = { yes: 0, no: 0, tooShort: 0 };
  await using folder = scratch();
  const store = await folder.open();
  for (let round = 0; round < rounds; round += 1) {
    const [mine, theirs] = [2 * round, 2 * round + 1] as const;
    const isThere = await fill(store, [mine, theirs]);
    for (const rowsMax of [1, 3, keyCount]) {
      const says = store.peers.isCoveredBy(place(mine), store.peers.tail(place(theirs), rowsMax));
      const what = `seed ${seed}, round ${round}, tail of ${rowsMax}`;
      if (says || rowsMax === keyCount) expect(says, what).toBe(isThere);
      answers[says ? 'yes' : isThere ? 'tooShort' : 'no'] += 1;
    }
  }
  for (const [answer, count] of Object.entries(answers)) expect(count, answer).toBeGreaterThan(5);
});
