// Waits until no server still holds partitions that the ring gives to others.
import type { StoredVersion } from '@ringwright/repository/read-version';
import { heldDrops, letGo } from './held-drops.ts';
import { type Look, type MoveWatch, watchPauseMs } from './moves/watch-moves.ts';
import { ringTargets, type Target } from './ring-targets.ts';
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
    readonly head: StoredVersion;
    readonly watch: MoveWatch;
    readonly stallMs: number;
    /** Let go what servers hold back, as soon as it is seen. */
    readonly confirmDrops: boolean;
  },
): Promise<Drains> {
  const { head, watch, stallMs, confirmDrops } = wanted;
  const targets = ringTargets(head.ring, head.state);
  const { answer } = await waitUntil({
    ask: async () => {
      const look = await watch.look(head, 'old holders give up');
      const held = confirmDrops ? heldDrops(targets, look.said) : [];
      if (held.length > 0) await letGo(held, head.ring.keyspace, context.nowMs());
      return leftOn(head, targets, look);
    },
    isDone: ({ left }) => left.length === 0,
    progressOf: ({ left }) => left.map(({ partitions }) => partitions).join(),
    stallMs,
    pollMs: watchPauseMs,
    nowMs: context.nowMs,
    tell: () => undefined, // the board says more
  });
  return answer;
}

function leftOn({ ring }: StoredVersion, targets: readonly Target[], { said }: Look): Drains {
  const left = targets.flatMap(({ address, devices }) => {
    const status = devices.map((id) => said.get(id)).find((one) => one !== undefined);
    if (status === undefined) return [];
    if (status instanceof Error) return [{ address, partitions: 0, reason: status.message }];
    if (status.version < ring.version) {
      return [{ address, partitions: 0, reason: 'has not this version yet' }];
    }
    const { surplus, draining } = status;
    const reason = draining[0]?.reason ?? '';
    return surplus === 0 ? [] : [{ address, partitions: surplus, reason }];
  });
  return { left };
}
