// Tests the merging of pages from replicas that differ, against a model that knows all records.
import { byteText } from '@ringwright/base/as-buffer';
import { positionAfterKey } from '@ringwright/base/key-bounds';
import { scanSourcesAtOnce } from '@ringwright/base/limits-listeners';
import { seededRandom } from '@ringwright/base/random';
import { packPage, unpackPage } from '@ringwright/wire/listing';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { coordinateScan, mergePages, type ScanPage } from './coordinate-scan.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

interface Row {
  readonly ms: number;
  readonly deleted: boolean;
}

type Replica = Map<string, Row>;

function pageOf(
  replica: Replica,
  position: string | null,
  { limit, reverse }: { readonly limit: number; readonly reverse: boolean },
): ScanPage {
  const isBehind = (name: string): boolean =>
    position === null || (reverse ? name < position : name >= position);
  const names = [...replica.keys()].sort().filter(isBehind);
  if (reverse) names.reverse();
  const rows = names.slice(0, limit).map((name) => {
    const { ms, deleted } = replica.get(name)!;
    const value = deleted ? null : Buffer.from(`${name}@${ms}`);
    return { partition: 0, key: Buffer.from(name), value, ms, tie: 0 };
  });
  const last = rows.at(-1);
  const isEnd = names.length <= limit || last === undefined;
  return { rows: packPage(rows), next: isEnd ? null : positionAfterKey(last.key, reverse) };
}

test('a key whose newest record is on two of three replicas is listed once and in order', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom(seed);
    const reverse = random.below(2) === 0;
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
    const given: string[] = [];
    for (let position: string | null | undefined; position !== null; ) {
      const from: string | null = position ?? null;
      const skipped = random.below(3);
      const asked = replicas.filter((_, index) => index !== skipped);
      // Large values end a page before its limit.
      const lengthOf = (): number => 1 + random.below(limit);
      const pages = asked.map((replica) => pageOf(replica, from, { limit: lengthOf(), reverse }));
      const page = mergePages(pages, { limit, reverse });
      expect(page.found.length).toBeLessThanOrEqual(limit);
      for (const { row, agreed } of page.found) {
        const name = byteText(row.key);
        expect(row.ms, `seed ${seed}`).toBe(truth.get(name)?.ms);
        const holders = asked.filter((replica) => replica.get(name)?.ms === row.ms);
        expect(agreed, `seed ${seed}`).toBe(holders.length === asked.length);
        if (row.value !== null) given.push(name);
      }
      position = page.next === null ? null : byteText(page.next);
    }
    const wanted = [...truth].flatMap(([name, { deleted }]) => (deleted ? [] : [name])).sort();
    expect(given, `seed ${seed}`).toEqual(reverse ? wanted.reverse() : wanted);
  }
});

/** A coordinator of a ring whose partitions have one key each, and the most pages read at once. */
function ofManyPartitions(power: number) {
  const active = activeOn(servedRing({ replicas: 1, power }), 0);
  const reading = { now: 0, most: 0 };
  const call = async (_: unknown, __: unknown, { partition }: { partition: number }) => {
    reading.now += 1;
    reading.most = Math.max(reading.most, reading.now);
    await Promise.resolve();
    reading.now -= 1;
    const row = { partition, key: Buffer.from(`k${10_000 + partition}`), ms: 1, tie: 0 };
    const rows = packPage([{ ...row, value: Buffer.from('v') }]);
    return { rows, gone: 0, digest: '0'.repeat(16), next: null };
  };
  const noMatter = (): void => undefined;
  const ports = {
    rings: { get: () => active },
    requests: { begin: noMatter, end: noMatter },
    clock: { nowMs: () => 1, machineMs: () => 1 },
    devices: { call },
  } as unknown as CoordinatorPorts;
  const bounds = { from: new Uint8Array(), to: null, reverse: false };
  const scan = (limit: number) =>
    coordinateScan(ports, {
      ...{ ...bounds, keyspace: 'cities', partition: 0, limit },
      ...{ arc: { start: 0, end: 0 }, values: true, consistency: 'quorum' },
    });
  return { scan, reading };
}

test('a page of an arc that a client sends reads few partitions at once', async () => {
  const { scan, reading } = ofManyPartitions(8);
  const { rows, next } = await scan(200);
  const keys = unpackPage(rows).map(({ key }) => byteText(key));
  expect(keys).toEqual(Array.from({ length: 200 }, (_, index) => `k${10_000 + index}`));
  expect(next).toEqual(positionAfterKey(Buffer.from('k10199'), false));
  expect(reading.most).toBe(scanSourcesAtOnce);
});

test('an arc of more partitions than any split makes is refused before one is read', async () => {
  const { scan, reading } = ofManyPartitions(13);
  await expect(scan(1)).rejects.toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
  expect(reading.most).toBe(0);
});
