// Waits until no server still holds partitions that the ring gives to others.
import type { StoredVersion } from '@ringwright/repository/read-version';
import { fanOut } from './fan-out.ts';
import type { Target } from './ring-targets.ts';
import { ringStatus } from './server-status.ts';
import type { Context } from './verb.ts';
import { waitUntil } from './wait-until.ts';

export interface Drains {
  /** Partitions still to be given up, by address. */
  readonly left: readonly {
    readonly address: string;
    readonly partitions: number;
    readonly reason: string;
  }[];
}

/**
 * What is left when it ends: nothing, or what made no progress for `stallMs`. The ring is in force
 * either way.
 */
export async function waitForDrains(
  context: Context,
  wanted: {
    readonly version: StoredVersion;
    readonly targets: readonly Target[];
    readonly stallMs: number;
  },
): Promise<Drains> {
  const { version, targets, stallMs } = wanted;
  const { answer } = await waitUntil({
    ask: () => askHolders(version, targets),
    isDone: ({ left }) => left.length === 0,
    progressOf: ({ left }) => {
      const partitions = left.reduce((sum, one) => sum + one.partitions, 0);
      return `giving up: ${partitions} partitions left on ${left.length} servers`;
    },
    stallMs,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  return answer;
}

async function askHolders(version: StoredVersion, targets: readonly Target[]): Promise<Drains> {
  const { keyspace, version: number } = version.ring;
  const statuses = await fanOut(targets, ({ address }) => ringStatus(address, keyspace));
  const left = statuses.flatMap((status, index) => {
    const target = targets[index];
    if (target === undefined) return [];
    const { address, required } = target;
    if (status instanceof Error) {
      return required ? [{ address, partitions: 0, reason: status.message }] : [];
    }
    if (status.version < number)
      return [{ address, partitions: 0, reason: 'has not this version yet' }];
    const { surplus, draining } = status;
    return surplus === 0
      ? []
      : [{ address, partitions: surplus, reason: draining[0]?.reason ?? '' }];
  });
  return { left };
}
