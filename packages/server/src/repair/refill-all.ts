// A data directory that was restored from a backup: its files lack what a quorum may count on, and
// are complete again only after a refill.
import { setImmediate } from 'node:timers/promises';
import type { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { Store } from '@ringwright/partition/store';
import { holdersOf } from '@ringwright/ring/slots-of';
import type { Generation } from '@ringwright/wire/hello';
import type { DeviceGeneration } from '../device/device-generation.ts';
import { usableInfo } from '../peers/holdings.ts';
import { type ActiveRing, activeDuties } from '../rings/active-ring.ts';

export interface RefillPorts {
  readonly store: Store;
  readonly generation: DeviceGeneration;
  readonly mutex: KeyedMutex;
  readonly rings: { list(): readonly ActiveRing[] };
  readonly onRefill: (remembered: Generation, partitions: number) => void;
}

/**
 * For a peer that remembers a later state of this directory. Marks every file that other devices
 * hold too as lost. Only when that is durable do peers hear of a new age. After
 * a crash in between, the next start finds the same situation.
 */
export async function refillIfRestored(ports: RefillPorts, remembered: Generation): Promise<void> {
  const { generation, mutex } = ports;
  // Several peers say so at once. After the refill for the first one, the others have no news.
  await mutex.run('refill', async () => {
    if (generation.isOlderThan(remembered)) await refillAll(ports, remembered);
  });
}

async function refillAll(ports: RefillPorts, remembered: Generation): Promise<void> {
  const { store, generation, rings, onRefill } = ports;
  const changes: Promise<void>[] = [];
  for (const active of rings.list()) {
    const { keyspace } = active.ring;
    const { serve, load } = activeDuties(active);
    for (const partition of [...serve, ...load.map((move) => move.partition)]) {
      const isSole = holdersOf(active.ring, partition).every((device) => device === active.self);
      const state = usableInfo(store, keyspace, partition)?.state ?? 'lost';
      if (isSole || state === 'lost') continue;
      changes.push(store.setState(keyspace, partition, 'lost'));
      await setImmediate(); // a file may have to be opened
    }
  }
  await Promise.all(changes);
  // failpoint: restored.filling
  await generation.advanceBeyond(remembered);
  onRefill(remembered, changes.length);
}
