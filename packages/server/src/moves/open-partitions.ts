// Creates a file for each partition that the table gives this device and that has none here: empty
// and ready in a new cluster, otherwise empty and to be refilled.
import { must } from '@ringwright/base/assert';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import { filesCreatedAtOnce } from '@ringwright/base/limits-copies';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { holdingsAt } from '../peers/holdings.ts';
import { type Repair, repaired } from '../repair/repair-sentence.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { CompleteFiles } from './complete-files.ts';
import { parentsHere } from './fill-child.ts';

export interface OpenPorts {
  readonly store: Store;
  readonly held: CompleteFiles;
  readonly onRepair: (repair: Repair) => void;
  readonly devices: DeviceCaller;
  /**
   * True if a device remembers another data directory at this device's address, or a later state of
   * this one: this device was wiped, or restored from a backup. Asks the device, which may know
   * this address only since it has the present ring. Rejects with a PEER_ code.
   */
  readonly isUnknownPeer: (active: ActiveRing, device: number) => Promise<boolean>;
}

/** What the devices of the other slots of a partition answered. */
interface Survey {
  answered: number;
  /** The state with which the file here is to begin. */
  state: PartitionState;
  /** A device still has an older version of the ring, and answers when it has this one. */
  mustWait: boolean;
}

/**
 * A device without a file must not serve an empty one if it held records before, since a quorum may
 * count on it. A partition that this directory once held complete is lost, whatever the others say.
 * A child of a split or merge here is filled from its parents. Any other begins empty and ready
 * only if the device of another slot answers, none has records, and none knows an earlier life of
 * this device, whose acknowledged records would be lost. A device with an older version of the ring
 * is waited for: the cluster is not new. Resolves to the partitions that are not decided yet.
 */
export async function openPartitions(
  ports: OpenPorts,
  active: ActiveRing,
  partitions: readonly number[],
): Promise<number[]> {
  const { keyspace } = active.ring;
  const lost = partitions.filter((partition) => ports.held.has(keyspace, partition));
  await mapConcurrent(lost, filesCreatedAtOnce, async (partition) => {
    await ports.store.create(keyspace, partition, 'lost');
    ports.onRepair(repaired('missed', { keyspace, partition }));
  });
  const unknown = partitions.filter((partition) => !ports.held.has(keyspace, partition));
  const isChild = (partition: number): boolean =>
    parentsHere(ports.store, { active, partition, move: null }) !== null;
  await mapConcurrent(unknown.filter(isChild), filesCreatedAtOnce, async (partition) => {
    await ports.store.create(keyspace, partition, 'filling');
  });
  const others = unknown.filter((partition) => !isChild(partition));
  const surveys = await surveyPeers(ports, active, others);
  const undecided: number[] = [];
  await mapConcurrent(others, filesCreatedAtOnce, async (partition) => {
    const survey = surveys.get(partition);
    if (survey === undefined) await ports.store.create(keyspace, partition, 'ready');
    else if (survey.answered === 0 || survey.mustWait) undecided.push(partition);
    else await ports.store.create(keyspace, partition, survey.state);
  });
  return undecided;
}

/** Asks each other device once. Partitions without other slots get no survey. */
async function surveyPeers(
  ports: OpenPorts,
  active: ActiveRing,
  partitions: readonly number[],
): Promise<Map<number, Survey>> {
  const surveys = new Map<number, Survey>();
  const byDevice = new Map<number, number[]>();
  for (const partition of partitions) {
    for (const { device } of slotsOf(active.ring, partition)) {
      if (device === active.self) continue;
      surveys.set(partition, { answered: 0, state: 'ready', mustWait: false });
      getOrMake(byDevice, device, () => []).push(partition);
    }
  }
  await Promise.all(
    [...byDevice].map(async ([device, list]) => {
      const onFailure = (error: CodedError): void => {
        if (error.code !== 'RING_VERSION_UNKNOWN') return;
        for (const partition of list)
          must(surveys.get(partition), 'it is surveyed').mustWait = true;
      };
      const query = { partitions: list, onFailure };
      const holdings = await holdingsAt(ports.devices, { active, device }, query);
      if (holdings.size === 0) return;
      const isUnknown = await resultOrError(ports.isUnknownPeer(active, device));
      if (isUnknown instanceof CodedError) return; // it counts as not having answered
      for (const [partition, holding] of holdings) {
        const survey = surveys.get(partition);
        if (survey === undefined) continue;
        survey.answered += 1;
        const hasRecords = holding !== null && holding.seq > 0;
        if (isUnknown) survey.state = 'lost';
        else if (hasRecords && survey.state === 'ready') survey.state = 'filling';
      }
    }),
  );
  return surveys;
}
