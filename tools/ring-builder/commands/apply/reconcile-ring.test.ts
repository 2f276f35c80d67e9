// Compares a ring with files on disks: every kind of finding, and none if all files match.
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { type DiskFile, type DiskListing, reconcileRing } from './reconcile-ring.ts';

const ring = servedRing({ devices: 5, power: 3 });
const ready: DiskFile = { state: 'ready', rows: 10, bytes: 1_000 };

/** Returns disks with exactly the files that the table names. */
function asAssigned({ table, devices }: Ring): Map<number, Map<number, DiskFile>> {
  const disks = new Map(devices.map((_, id) => [id, new Map<number, DiskFile>()]));
  for (const row of table) {
    for (const [partition, device] of row.entries()) disks.get(device)?.set(partition, ready);
  }
  return disks;
}

const listed = (
  disks: ReadonlyMap<number, ReadonlyMap<number, DiskFile>>,
  draining: ReadonlyMap<number, string> = new Map(),
): DiskListing[] =>
  [...disks].map(([device, files]) => ({
    ...{ device, address: `10.0.0.${device}`, files, draining },
    ...{ damaged: new Map(), refills: new Map(), quarantines: 0 },
  }));

/** The holders of partition 5, and a device without a file of it. */
const [a, b, c, other] = [0, 1, 2, 3];

test('disks that match the ring have no findings', () => {
  expect(reconcileRing(ring, listed(asAssigned(ring)))).toEqual({
    findings: [],
    joining: 0,
    slots: 24,
    complete: 24,
  });
});

test('absent, partial and unassigned files are found while a slot is incomplete', () => {
  const disks = asAssigned(ring);
  disks.get(a)?.delete(5);
  disks.get(b)?.set(5, { ...ready, state: 'filling' });
  disks.get(other)?.set(5, ready);
  const { findings, complete } = reconcileRing(
    ring,
    listed(disks, new Map([[5, 'd1 has not all of it yet']])),
  );
  expect(complete).toBe(22);
  const found = findings.map(({ kind, device, command }) => [kind, device, command]);
  expect(new Set(found)).toEqual(
    new Set([
      ['absent', a, `push ${ring.keyspace}`],
      ['partial', b, `servers ${ring.keyspace}`],
      ['unassigned', other, `rollout ${ring.keyspace}`],
    ]),
  );
  expect(findings.find(({ kind }) => kind === 'unassigned')?.why).toContain('d1 has not all');
});

test('a surplus file is a duplicate if every slot has a complete file', () => {
  const disks = asAssigned(ring);
  disks.get(other)?.set(5, ready);
  const { findings } = reconcileRing(ring, listed(disks));
  expect(findings).toMatchObject([{ kind: 'duplicated', device: other, bytes: 1_000 }]);
});

test('the lack of any complete file is the first finding, with the rows that exist', () => {
  const disks = asAssigned(ring);
  for (const id of [a, b]) disks.get(id)?.delete(5);
  disks.get(c)?.set(5, { ...ready, state: 'filling', rows: 7 });
  const [first] = reconcileRing(ring, listed(disks)).findings;
  expect(first).toMatchObject({ kind: 'no-complete-copy', partition: 5, device: null });
  expect(first?.why).toContain(`d${c} 7`);
});

test('files of a device that does not answer are not reported as absent', () => {
  const disks = asAssigned(ring);
  disks.delete(a);
  const { findings, slots, complete } = reconcileRing(ring, listed(disks));
  expect(findings).toEqual([]);
  expect(slots).toBe(24);
  expect(complete).toBe(20);
});

test('the partial file of a joiner is no finding, but its damaged file is', () => {
  const move = { partition: 5, replica: 0, from: a, to: other };
  const [, moving] = moveVersions(ring, [move]);
  const disks = asAssigned(ring);
  expect(reconcileRing(moving, listed(disks)).findings).toEqual([]);
  disks.get(other)?.set(5, { ...ready, state: 'filling' });
  expect(reconcileRing(moving, listed(disks))).toMatchObject({ findings: [], joining: 1 });
  const damaged = listed(disks).map((one) =>
    one.device === other ? { ...one, damaged: new Map([[5, 'data.db is gone']]) } : one,
  );
  expect(reconcileRing(moving, damaged)).toMatchObject({
    findings: [{ kind: 'damaged', device: other }],
    joining: 0,
  });
});

test('a damaged file is not counted as complete, although listed as ready', () => {
  const disks = listed(asAssigned(ring));
  const damaged = disks.map((one) =>
    one.device === a ? { ...one, damaged: new Map([[5, 'data.db is gone']]) } : one,
  );
  const { findings, complete } = reconcileRing(ring, damaged);
  expect(complete).toBe(23);
  expect(findings).toMatchObject([{ kind: 'damaged', device: a, partition: 5 }]);
  expect(findings[0]?.why).toMatch(/^data.db is gone; it is refilling/);
  const many = damaged.map((one) => ({ ...one, quarantines: 3 }));
  const [held] = reconcileRing(ring, many).findings;
  expect(held?.command).toBe(`trash ${ring.keyspace} confirm`);
});

test('a refill with too few sources is reported with the command to force it', () => {
  const disks = asAssigned(ring);
  disks.get(b)?.set(5, { ...ready, state: 'filling' });
  const [alone] = reconcileRing(ring, listed(disks)).findings;
  expect(alone?.why).toContain('refilling');
  // A second device lacks records too, but all devices answer: together they have all records.
  disks.get(a)?.set(5, { ...ready, state: 'filling' });
  for (const { why } of reconcileRing(ring, listed(disks)).findings) {
    expect(why).toContain('refilling');
  }
  // Not enough if both files are lost: both may have acknowledged writes that the third lacks.
  for (const id of [a, b]) disks.get(id)?.set(5, { ...ready, state: 'lost' });
  const [loss] = reconcileRing(ring, listed(disks)).findings;
  expect(loss).toMatchObject({ kind: 'partial', partition: 5, device: a });
  expect(loss?.why).toContain(`cannot refill: it needs 2 complete files and finds 1, and d${b}`);
  expect(loss?.why).toContain('may be gone');
  expect(loss?.command).toBe(`moves ${ring.keyspace} force 5 --reason TEXT --yes`);
  disks.delete(a);
  const [stuck] = reconcileRing(ring, listed(disks)).findings;
  expect(stuck?.why).toContain(`it needs 2 complete files and finds 1, and d${a}`);
  expect(stuck?.command).toBe(`moves ${ring.keyspace} force 5 --reason TEXT --yes`);
});
