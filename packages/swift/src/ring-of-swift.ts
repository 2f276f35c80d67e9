// Rings of Swift as rings here, and back: the same answers to every lookup and handoff. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { firstRing } from '@ringwright/ring/first-ring';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { replicasOfTable, type SwiftRing } from './swift-ring.ts';

export interface SwiftNames {
  readonly keyspace: string;
  readonly cluster: string;
  /** Hex. Swift has them in swift.conf, not in the file; they can never be changed. */
  readonly prefix: string;
  readonly suffix: string;
}

type SwiftTable = Pick<SwiftRing, 'partPower' | 'devices' | 'table'>;

/**
 * Version 1 of a ring with Swift's table. Keys are Swift's paths: `/account/container/object`.
 * Throws RING_NOT_CONVERTIBLE when a device holds a partition twice.
 */
export function ringOfSwift(swift: SwiftTable, names: SwiftNames): Ring {
  const { partPower: power, devices, table } = swift;
  const { keyspace, cluster, prefix, suffix } = names;
  refuseTwins(swift);
  return firstRing({
    keyspace,
    cluster,
    partitioner: { kind: 'md5-shift', power, prefix, suffix },
    partitions: 2 ** power,
    replicas: replicasOfTable(table, power),
    devices,
    table,
  });
}

/** Swift does this when there are more replicas than devices, or too few with weight. */
function refuseTwins({ table, partPower, devices }: SwiftTable): void {
  const lastSeen = new Int32Array(devices.length).fill(-1);
  const twins: { partition: number; device: number }[] = [];
  for (let partition = 0; partition < 2 ** partPower; partition += 1) {
    for (const row of table) {
      const device = row[partition];
      if (device === undefined) continue;
      if (lastSeen[device] === partition) twins.push({ partition, device });
      lastSeen[device] = partition;
    }
  }
  const first = twins[0];
  if (first === undefined) return;
  const count = twins.length;
  throw new CodedError(
    'RING_NOT_CONVERTIBLE',
    `${count} times a device holds two replicas of a partition, first device ${first.device} of ` +
      `partition ${first.partition}; here a device holds a partition once`,
    {
      hint: 'in Swift take no more replicas than devices with weight, rebalance, import again',
      details: { twins: count, ...first },
    },
  );
}

/**
 * A ring as Swift has it. Throws RING_NOT_CONVERTIBLE for another partitioner, MOVES_IN_FLIGHT:
 * Swift has no word for a slot that is between two devices.
 */
export function swiftOfRing(
  ring: Ring,
  as: Omit<SwiftRing, 'partPower' | 'devices' | 'table'>,
): SwiftRing {
  const { partitioner, moves, devices, table, keyspace, version } = ring;
  if (partitioner.kind !== 'md5-shift') {
    throw notOfSwift(keyspace, partitioner);
  }
  if (moves.length > 0) {
    throw new CodedError(
      'MOVES_IN_FLIGHT',
      `version ${version} of ${keyspace} has ${moves.length} moves in flight`,
      {
        hint: `ring-builder rollout ${keyspace}, or export a version without moves`,
        details: { ring: keyspace, version, moves: moves.length },
      },
    );
  }
  return { partPower: partitioner.power, devices, table, ...as };
}

type OtherPartitioner = Exclude<Partitioner, { readonly kind: 'md5-shift' }>;

const whyNot: Readonly<Record<OtherPartitioner['kind'], string>> = {
  'murmur3-mod': 'it has no other hash than MD5',
  'hash-intervals': 'its partitions are the top bits of MD5, no intervals with own ends',
  ranges: 'it places keys by their hash, not by their order',
};

export function notOfSwift(ring: string, { kind }: OtherPartitioner): CodedError {
  const why = `Swift knows md5-shift only: ${whyNot[kind]}`;
  const message = `ring ${ring} has partitioner ${kind}, ${why}`;
  return new CodedError('RING_NOT_CONVERTIBLE', message, { details: { ring, partitioner: kind } });
}
