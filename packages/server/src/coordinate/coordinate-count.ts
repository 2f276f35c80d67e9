// Counts the keys of a keyspace, as one holder of each partition counts them.
import { CodedError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import { deviceIn } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { holdingsAt } from '../peers/holdings.ts';
import { Turn } from '../replica/turn.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

/**
 * Sums the rows of one ready file of each partition. A holder may lack its newest writes for a
 * moment, so the result is approximate under writes and exact at rest. Throws NOT_ENOUGH_REPLICAS
 * when no holder of a partition answers.
 */
export async function coordinateCount(ports: CoordinatorPorts, keyspace: string): Promise<number> {
  const active = ports.rings.get(keyspace);
  const { ring } = active;
  let remaining = Array.from({ length: ring.partitions }, (_, partition) => partition).filter(
    (partition) => ring.table[0] !== undefined && deviceIn(ring.table[0], partition) !== undefined,
  );
  let rows = 0;
  for (let replica = 0; replica < active.ring.table.length && remaining.length > 0; replica += 1) {
    const byDevice = await groupByHolder(active, remaining, replica);
    remaining = byDevice.get(NOBODY) ?? [];
    byDevice.delete(NOBODY);
    const counts = await Promise.all(
      [...byDevice].map(([device, partitions]) => countOn(ports, active, { device, partitions })),
    );
    for (const { sum, missing } of counts) {
      rows += sum;
      remaining.push(...missing);
    }
  }
  if (remaining.length === 0) return rows;
  const message = `no device counts the keys of ${remaining.length} partitions`;
  throw new CodedError('NOT_ENOUGH_REPLICAS', message, {
    hint: 'ring-builder health says what is wrong with the servers',
  });
}

/** Stands for partitions that have no slot with this replica index. */
const NOBODY = -1;

/**
 * In the first round (replica 0) this device counts what it holds. Later rounds ask the next slots
 * in turn.
 */
async function groupByHolder(
  active: ActiveRing,
  partitions: readonly number[],
  replica: number,
): Promise<Map<number, number[]>> {
  const groups = new Map<number, number[]>();
  const turn = new Turn();
  for (const partition of partitions) {
    const devices = slotsOf(active.ring, partition).map(({ device }) => device);
    devices.sort((a, b) => Number(b === active.self) - Number(a === active.self));
    getOrMake(groups, devices[replica] ?? NOBODY, () => []).push(partition);
    if (turn.isOver) await turn.next();
  }
  return groups;
}

interface Counted {
  readonly sum: number;
  readonly missing: readonly number[];
}

async function countOn(
  { devices, clock }: CoordinatorPorts,
  active: ActiveRing,
  { device, partitions }: { readonly device: number; readonly partitions: readonly number[] },
): Promise<Counted> {
  const request = { partitions, nowMs: clock.nowMs() };
  const holdings = await holdingsAt(devices, { active, device }, request);
  let sum = 0;
  const missing: number[] = [];
  for (const partition of partitions) {
    const holding = holdings.get(partition);
    if (holding?.state === 'ready') sum += holding.rows - (holding.expired ?? 0);
    else missing.push(partition);
  }
  return { sum, missing };
}
