// Decides whether the other devices of a partition have enough for a holder that refills. This is
// asked before anything is copied, and judged by what each copy has lost.
import { CodedError } from '@ringwright/base/coded-error';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { holdingAt } from '../peers/holdings.ts';
import type { ActivePartition } from '../rings/active-ring.ts';

interface Ports {
  readonly store: Pick<Store, 'marks'>;
  readonly devices: DeviceCaller;
}

/**
 * What the other devices say about their copies. A device that has a file is in one of the lists.
 */
interface Sources {
  readonly ready: readonly number[];
  readonly filling: readonly number[];
  readonly lost: readonly number[];
  /** Reasons of the devices that do not answer, or have no file yet. */
  readonly failures: readonly string[];
  /** Whether the copy here is lost too. */
  readonly isLostHere: boolean;
}

/** Asks all of these devices at once. */
export async function sourcesOf(
  ports: Ports,
  refilled: ActivePartition,
  others: readonly number[],
): Promise<Sources> {
  const { active, partition } = refilled;
  const failures: string[] = [];
  const byState: Record<PartitionState, number[]> = { ready: [], filling: [], lost: [] };
  const ask = async (device: number): Promise<void> => {
    try {
      const holding = await holdingAt(ports.devices, refilled, device);
      if (holding === null) failures.push(`d${device} has no file yet`);
      else byState[holding.state].push(device);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      failures.push(`d${device}: ${error.message}`);
    }
  };
  await Promise.all(others.map(ask));
  const isLostHere = ports.store.marks(active.ring.keyspace, partition)?.state === 'lost';
  return { ...byState, failures, isLostHere };
}

/**
 * `needed` complete copies are enough, since every quorum includes one of them. With fewer, all
 * other copies must be merged, and `needed` copies, this one included, must have all that they
 * acknowledged: a joiner that was restarted has, a device that lost its file has not. At least one
 * copy must be complete; otherwise each device would accept the empty files of the others.
 */
export function hasEnoughSources(
  { ready, filling, lost, failures, isLostHere }: Sources,
  needed: number,
): boolean {
  if (ready.length >= needed) return true;
  const isAlone = ready.length + filling.length + lost.length + failures.length === 0;
  const untouched = ready.length + filling.length + (isLostHere ? 0 : 1);
  return failures.length === 0 && (ready.length > 0 || isAlone) && untouched >= needed;
}

export function tooFewSources(
  { active, partition }: ActivePartition,
  { ready, filling, lost, failures }: Sources,
  needed: number,
): CodedError {
  const { keyspace } = active.ring;
  const names = lost.map((id) => `d${id}`).join(' ');
  const reasons = [
    lost.length === 0 ? '' : `possible loss, the copy of ${names} is lost too`,
    filling.length === 0 ? '' : `${filling.map((id) => `d${id}`).join(' ')} not complete yet`,
    ...failures,
  ].filter((reason) => reason !== '');
  const count = `${ready.length} of the ${needed} complete files needed`;
  const message = `${count} for partition ${partition} are available: ${reasons.join('; ')}`;
  return new CodedError('NOT_ENOUGH_REPLICAS', message, {
    hint: `ring-builder reconcile ${keyspace}`,
    details: { sources: ready.length, needed, lost, failures },
  });
}
