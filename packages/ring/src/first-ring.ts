// Version 1 of a ring: its settings, devices and first table, without moves in flight. Pure.
import { assert } from '@ringwright/base/assert';
import { type Ring, rowLengths } from './ring.ts';
import { copyTable } from './slot-rows.ts';

/** Returns version 1 with a copy of `table`; every minVersion is 1. Asserts the row lengths. */
export function firstRing(
  settings: Pick<
    Ring,
    'keyspace' | 'cluster' | 'partitioner' | 'partitions' | 'replicas' | 'devices' | 'table'
  >,
): Ring {
  const { keyspace, cluster, partitioner, partitions, replicas, devices } = settings;
  const wanted = rowLengths(partitions, replicas).join();
  const found = settings.table.map((row) => row.length).join();
  assert(found === wanted, `rows of ${found} slots, expected ${wanted}`);
  const table = copyTable(settings.table, devices.length);
  const minVersions = new Uint32Array(partitions).fill(1);
  return {
    keyspace,
    cluster,
    version: 1,
    parent: null,
    partitioner,
    partitions,
    replicas,
    devices,
    table,
    moves: [],
    minVersions,
    nextAssignment: 1,
  };
}
