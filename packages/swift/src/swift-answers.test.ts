// Partition, preference list and handoffs are what OpenStack Swift answers for its own rings.

import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { decodeRing, encodeRing } from '@ringwright/ring/file/ring-file';
import { handoffsOf, tierCountsOf } from '@ringwright/ring/handoffs-of';
import { lookupOf } from '@ringwright/ring/lookup';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import { holdersOf } from '@ringwright/ring/slots-of';
import { describe, expect, test } from 'vitest';
import { type SwiftFixture, swiftFixtures, swiftRing } from '../test/support/swift-ring.ts';

const fixtures = swiftFixtures();

test('every family of fixtures is present', () => {
  const families = new Set(fixtures.map(({ fixture }) => fixture.slice(0, 3)));
  expect([...families].join(' ')).toBe('f01 f02 f03 f05 f06 f08 f09 f12 g01 g04');
});

describe.each(fixtures)('$fixture', (fixture: SwiftFixture) => {
  const ring = swiftRing(fixture);

  test('partitions are those of Swift, and the top bits of its hashes', () => {
    for (const { key, hash, partition } of fixture.lookups) {
      expect(partitionerOf(ring.partitioner)(Buffer.from(key, 'hex')), key).toBe(partition);
      expect(Math.floor(Number.parseInt(hash.slice(0, 8), 16) / 2 ** fixture.partShift)).toBe(
        partition,
      );
    }
  });

  test('preference lists are those of Swift', () => {
    for (const { key, partition, primaries } of fixture.lookups) {
      const found = lookupOf(ring)(Buffer.from(key, 'hex'));
      expect(found.partition).toBe(partition);
      // If one device holds two replicas, Swift lists it once.
      expect([...new Set(found.devices.map(({ id }) => id))], key).toEqual(primaries);
    }
  });

  test('handoffs are those of Swift, in order', () => {
    const counts = tierCountsOf(ring);
    for (const { partition, handoffs } of fixture.lookups) {
      const found = handoffsOf(ring, partition, counts).take(handoffs.length);
      expect(
        [...found].map(({ id }) => id),
        `partition ${partition}`,
      ).toEqual(handoffs);
    }
    const { partition, handoffs } = fixture.everyHandoff;
    expect([...handoffsOf(ring, partition, counts)].map(({ id }) => id)).toEqual(handoffs);
  });

  test('every handoff list contains each device with slots once, and no holder', () => {
    const counts = tierCountsOf(ring);
    const withSlots = new Set(ring.table.flatMap((row) => [...row]));
    for (let partition = 0; partition < ring.partitions; partition += 13) {
      const holders = new Set(holdersOf(ring, partition));
      const handoffs = [...handoffsOf(ring, partition, counts)].map(({ id }) => id);
      const all = new Set([...holders, ...handoffs]);
      expect(all.size, `partition ${partition}`).toBe(holders.size + handoffs.length);
      expect([...all].every((id) => withSlots.has(id))).toBe(true);
    }
  });

  test('the ring survives the native file', () => {
    expect(decodeRing(encodeRing(ring).bytes).ring.table).toEqual(ring.table);
    expect(auditRing(ring)).toEqual([]);
  });
});
