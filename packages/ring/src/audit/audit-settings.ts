// Audit of a ring's settings: name, version, partitioner, counts, lengths of rows. Pure.
import { partitionCountMax, partitionPowerMax, replicaCountMax } from '@ringwright/base/limits';
import { keyspaceNamePattern } from '../keyspace-name.ts';
import { intervalFaults } from '../partitioner/interval-faults.ts';
import { isIntervals, liveCountOf, partitionCountOf } from '../partitioner/partitioner.ts';
import { settingsText } from '../partitioner/partitioner-settings.ts';
import { mayFollow } from '../partitioner/reshape.ts';
import { type Ring, rowLengths } from '../ring.ts';
import type { Broken, Check } from './finding-list.ts';

export const settingChecks: readonly Check<Ring>[] = [
  { code: 'RING_NAME_INVALID', broken: nameInvalid },
  { code: 'RING_CLUSTER_INVALID', broken: clusterInvalid },
  { code: 'RING_VERSION_INVALID', broken: versionInvalid },
  { code: 'RING_PARENT_WRONG', broken: parentWrong },
  { code: 'RING_PARTITIONER_INVALID', broken: partitionerInvalid },
  { code: 'RING_PARTITIONS_WRONG', broken: partitionsWrong },
  { code: 'RING_RESHAPE_INVALID', broken: reshapeInvalid },
  { code: 'RING_REPLICAS_INVALID', broken: replicasInvalid },
];

/** These run only with sound settings, because they compare arrays with them. */
export const lengthChecks: readonly Check<Ring>[] = [
  { code: 'ROW_LENGTHS_WRONG', broken: rowLengthsWrong },
  { code: 'MIN_VERSIONS_LENGTH_WRONG', broken: minVersionsLengthWrong },
  { code: 'RING_REPLICAS_EXCEED_DEVICES', broken: replicasExceedDevices },
  { code: 'NEXT_ASSIGNMENT_INVALID', broken: nextAssignmentInvalid },
];

function* nameInvalid({ keyspace }: Ring): Generator<Broken> {
  if (keyspaceNamePattern.test(keyspace)) return;
  yield `keyspace ${JSON.stringify(keyspace)} is not ${keyspaceNamePattern.source}`;
}

function* clusterInvalid({ cluster }: Ring): Generator<Broken> {
  if (cluster.length > 0 && cluster.length <= 128) return;
  yield `the cluster name has ${cluster.length} characters, expected 1 to 128`;
}

function* versionInvalid({ version }: Ring): Generator<Broken> {
  if (Number.isInteger(version) && version >= 1 && version < 2 ** 32) return;
  yield `version ${version} is not a whole number from 1 to ${2 ** 32 - 1}`;
}

function* parentWrong({ version, parent }: Ring): Generator<Broken> {
  if (version === 1 ? parent === null : parent !== null && /^[0-9a-f]{64}$/.test(parent)) return;
  const wanted = version === 1 ? 'none' : 'a ring id of 64 hex digits';
  yield `version ${version} has parent ${parent ?? 'none'}, expected ${wanted}`;
}

function* partitionerInvalid({ partitioner }: Ring): Generator<Broken> {
  if (isIntervals(partitioner)) {
    for (const { message, found, wanted } of intervalFaults(partitioner)) {
      yield { message: `${partitioner.kind}: ${message}`, details: { found, wanted } };
    }
    return;
  }
  if (partitioner.kind === 'murmur3-mod') {
    const { seed } = partitioner;
    if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32) return;
    yield `murmur3-mod has seed ${seed}, expected 0 to ${2 ** 32 - 1}`;
    return;
  }
  const { power, prefix, suffix } = partitioner;
  if (!Number.isInteger(power) || power < 0 || power > partitionPowerMax) {
    yield `md5-shift has power ${power}, expected 0 to ${partitionPowerMax}`;
  }
  for (const [name, hex] of Object.entries({ prefix, suffix })) {
    if (/^([0-9a-f]{2})*$/.test(hex)) continue;
    yield `md5-shift has ${name} ${JSON.stringify(hex)}, expected bytes in hex`;
  }
}

function* partitionsWrong({ partitions, partitioner }: Ring): Generator<Broken> {
  const expected = partitionCountOf(partitioner);
  if (partitions !== expected) {
    yield `${partitions} partitions, but ${partitioner.kind} makes ${expected}`;
  }
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > partitionCountMax) {
    yield `${partitions} partitions, expected 1 to ${partitionCountMax}`;
  }
}

/** Both partitioners must have the same domain and must give an id the same interval. */
function* reshapeInvalid({ partitioner, reshape, partitions }: Ring): Generator<Broken> {
  if (reshape === undefined) return;
  const { kind, partitioner: otherPartitioner } = reshape;
  for (const { message } of intervalFaults(otherPartitioner)) yield `reshape ${kind}: ${message}`;
  if (kind === 'to' && otherPartitioner.partitions !== partitions) {
    yield `${otherPartitioner.partitions} partitions after the reshape, but the ring has ${partitions}`;
  }
  const [before, after] =
    kind === 'to' ? [partitioner, otherPartitioner] : [otherPartitioner, partitioner];
  if (!mayFollow(before, after)) {
    const texts = [before, after].map(settingsText);
    yield `reshape ${kind}: ${texts[1]} cannot follow ${texts[0]}`;
  }
}

function* replicasInvalid({ partitioner, partitions, replicas }: Ring): Generator<Broken> {
  if (!(replicas >= 1 && replicas <= replicaCountMax)) {
    yield `${replicas} replicas, expected 1 to ${replicaCountMax}`;
  }
  if (liveCountOf(partitioner) === partitions || Number.isInteger(replicas)) return;
  yield `${replicas} replicas after a split or merge, expected a whole number`;
}

function* rowLengthsWrong({ table, partitions, replicas }: Ring): Generator<Broken> {
  const found = table.map((row) => row.length).join(', ');
  const wanted = rowLengths(partitions, replicas).join(', ');
  if (found !== wanted) yield `rows of ${found || 'no'} slots, expected ${wanted}`;
}

function* minVersionsLengthWrong({ minVersions, partitions }: Ring): Generator<Broken> {
  if (minVersions.length === partitions) return;
  yield `${minVersions.length} minVersions for ${partitions} partitions`;
}

function* replicasExceedDevices({ table, devices }: Ring): Generator<Broken> {
  const count = devices.filter((device) => device !== null).length;
  if (table.length <= count) return;
  yield `${table.length} replicas on ${count} devices: some would hold a partition twice`;
}

function* nextAssignmentInvalid({ nextAssignment }: Ring): Generator<Broken> {
  if (Number.isSafeInteger(nextAssignment) && nextAssignment >= 1) return;
  yield `the next assignment id is ${nextAssignment}, expected a whole number from 1`;
}
