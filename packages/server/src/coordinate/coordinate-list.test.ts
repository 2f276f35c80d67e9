// Pages of replicas that differ, merged, against a model that knows all records.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { byteText } from '../replica/byte-text.ts';
import { mergePages } from './coordinate-list.ts';

interface Row {
  readonly ms: number;
  readonly deleted: boolean;
}

type Replica = Map<string, Row>;

function pageOf(
  replica: Replica,
  after: string,
  limit: number,
): Parameters<typeof mergePages>[0][0] {
  const names = [...replica.keys()].sort().filter((name) => name > after);
  const keys = names.slice(0, limit).map((name): [Uint8Array, number, number, boolean] => {
    const { ms, deleted } = replica.get(name)!;
    return [Buffer.from(name), ms, 0, deleted];
  });
  return { keys, more: names.length > limit };
}

test('every key whose newest record two of three have is listed once, deleted ones never', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom(seed);
    const replicas: Replica[] = [new Map(), new Map(), new Map()];
    const truth = new Map<string, Row>();
    for (let ms = 1; ms <= 40; ms += 1) {
      const name = `k${String(random.below(20)).padStart(2, '0')}`;
      const row = { ms, deleted: random.below(4) === 0 };
      const left = random.below(4);
      replicas.forEach((replica, index) => index !== left && replica.set(name, row));
      truth.set(name, row);
    }
    const limit = 1 + random.below(5);
    const listed: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const skipped = random.below(3);
      const asked = replicas.filter((_, index) => index !== skipped);
      const page = mergePages(asked.map((replica) => pageOf(replica, from, limit)));
      listed.push(...page.keys.map(byteText));
      after = page.next === null ? null : byteText(page.next);
    }
    const wanted = [...truth].flatMap(([name, { deleted }]) => (deleted ? [] : [name])).sort();
    expect(listed, `seed ${seed}`).toEqual(wanted);
  }
});
