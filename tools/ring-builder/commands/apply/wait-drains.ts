// Waits until no server holds partitions that the ring gives to others.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { holdersOf } from '@ringwright/ring/slots-of';
import type { Context } from '../../cli/command.ts';
import { type MovesSnapshot, type MoveWatch } from '../../moves/watch-moves.ts';
import { ringTargets, type Target } from '../../servers/ring-targets.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import { confirmHeldDrops, type HeldDrops, heldDrops } from './held-drops.ts';

/**
 * How long a rollout waits for an unreachable server that has something to drop. A slow server has
 * answered by then, and most restarts are over.
 */
const downMsMaxFirst = 10_000;
/** The wait for a server that had already delayed an earlier wave. */
const downMsMaxAgain = 1_000;

export interface Drains {
  /** Servers with partitions still to be dropped. */
  readonly left: readonly {
    readonly address: string;
    readonly partitions: number;
    readonly reason: string;
    /** Set if an operator is needed or the server is unreachable. */
    readonly code?: ErrorCode;
    readonly devices: readonly number[];
    /** The server drops nothing until an operator confirms it (`trash RING confirm`). */
    readonly isHeld?: true;
  }[];
  /**
   * All that is left waits for unreachable servers, and does not keep the rollout from continuing.
   */
  readonly isLeftToDown: boolean;
}

/**
 * Waits until every surplus partition is dropped, and returns what is left. Ends after `stallMs`
 * without progress. Ends at once if everything left waits for an operator to settle a fork or
 * confirm drops. Ends soon if everything left waits for unreachable servers that were removed, or
 * for any unreachable server with `skipDown`. The ring is in force in any case.
 */
export async function waitForDrains(
  context: Context,
  inputs: {
    readonly head: StoredVersion;
    readonly watch: MoveWatch;
    readonly stallMs: number;
    readonly skipDown: boolean;
    /** Confirm drops that servers hold back as soon as they are seen. */
    readonly confirmDrops: boolean;
    /** Addresses of servers that still had something to drop after an earlier wave. */
    readonly leftBefore: ReadonlySet<string>;
  },
): Promise<Drains> {
  const { head, watch, stallMs, skipDown, confirmDrops, leftBefore } = inputs;
  const targets = ringTargets(head.ring, head.state);
  const isSilent = silenceOf(context.nowMs, { leftBefore, stallMs });
  const { answer } = await waitUntil({
    ask: async () => {
      const snapshot = await watch.look(head, 'old holders drop their files');
      const held = confirmDrops ? heldByDevices(targets, snapshot) : [];
      if (held.length > 0) await confirmHeldDrops(held, head.ring.keyspace);
      const left = leftOn(head, targets, snapshot);
      const isLeftToDown = isSilent(left) && waitsForDown(head, snapshot, skipDown);
      return { left, isLeftToDown };
    },
    isDone: ({ left, isLeftToDown }) =>
      left.every(({ code, isHeld }) => code === 'RING_FORK' || (isHeld && !confirmDrops)) ||
      isLeftToDown,
    progressOf: ({ left }) => left.map(({ partitions }) => partitions).join(),
    stallMs,
    pause: (tookMs) => watch.pause(head, tookMs),
    nowMs: context.nowMs,
    tell: () => undefined, // the display shows more
  });
  return { left: answer.left, isLeftToDown: answer.left.length > 0 && answer.isLeftToDown };
}

/**
 * Returns a function to call at each look. It says whether every unreachable server has been away
 * for as long as the rollout waits for it.
 */
function silenceOf(
  nowMs: () => number,
  { leftBefore, stallMs }: { readonly leftBefore: ReadonlySet<string>; readonly stallMs: number },
): (left: Drains['left']) => boolean {
  let awayFromMs = new Map<string, number>();
  return (left) => {
    const now = nowMs();
    const away = left.filter(({ code }) => code === 'PEER_UNREACHABLE');
    awayFromMs = new Map(away.map(({ address }) => [address, awayFromMs.get(address) ?? now]));
    return [...awayFromMs].every(
      ([address, fromMs]) =>
        now - fromMs >=
        Math.min(leftBefore.has(address) ? downMsMaxAgain : downMsMaxFirst, stallMs),
    );
  };
}

/**
 * Whether each partition to be dropped has an unreachable holder: a removed device, of which
 * `statuses` has no answer, or any with `skipDown`.
 */
function waitsForDown(
  { ring }: StoredVersion,
  { statuses }: MovesSnapshot,
  skipDown: boolean,
): boolean {
  const isDown = (device: number): boolean => {
    const status = statuses.get(device);
    if (status === undefined) return true;
    return skipDown && status instanceof CodedError && status.code === 'PEER_UNREACHABLE';
  };
  return [...statuses].every(([device, status]) => {
    if (status instanceof Error) return isDown(device);
    return (
      status.version >= ring.version &&
      status.draining.every(({ partition }) => holdersOf(ring, partition).some(isDown))
    );
  });
}

/** Confirms drops only for the ring's devices, not for other servers at their addresses. */
function heldByDevices(targets: readonly Target[], snapshot: MovesSnapshot): HeldDrops[] {
  return heldDrops(spokenBy(targets, snapshot)).filter(({ device }) => device !== null);
}

/** Returns each server with its status. */
function spokenBy(targets: readonly Target[], { statuses }: MovesSnapshot) {
  return targets.map((target) => {
    const answers = target.devices.map((id) => statuses.get(id));
    return { ...target, ringStatus: answers.find((one) => one !== undefined) };
  });
}

const removedReason = 'its devices were removed, and no server answers as one of them';

function leftOn(
  { ring }: StoredVersion,
  targets: readonly Target[],
  snapshot: MovesSnapshot,
): Drains['left'] {
  return spokenBy(targets, snapshot).flatMap(
    ({ address, devices, ringStatus: status }): Drains['left'] => {
      if (status === undefined) {
        // Removed and silent: it may be gone for good, or return at once with files to drop.
        return [
          { address, devices, partitions: 0, reason: removedReason, code: 'PEER_UNREACHABLE' },
        ];
      }
      if (status instanceof Error) {
        const code = status instanceof CodedError ? { code: status.code } : {};
        return [{ address, devices, partitions: 0, reason: status.message, ...code }];
      }
      if (status.version < ring.version) {
        return [{ address, devices, partitions: 0, reason: 'does not have this version yet' }];
      }
      const { surplus, draining, fork, freshness, held } = status;
      const reason = draining[0]?.reason ?? '';
      if (surplus === 0) return [];
      const left = { address, devices, partitions: surplus, reason };
      if (fork?.settled === null) return [{ ...left, code: 'RING_FORK' }];
      if (freshness.state === 'expired') return [{ ...left, code: 'BEACON_EXPIRED' }];
      return [held.drops + held.quarantines < surplus ? left : { ...left, isHeld: true }];
    },
  );
}
