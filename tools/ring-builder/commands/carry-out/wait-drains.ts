// Waits until no server still holds partitions that the ring gives to others.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { holdersOf } from '@ringwright/ring/slots-of';
import type { Context } from '../../cli/verb.ts';
import { type Look, type MoveWatch } from '../../moves/watch-moves.ts';
import { ringTargets, type Target } from '../../servers/ring-targets.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import { type HeldDrops, heldDrops, letGo } from './held-drops.ts';

/**
 * What waits only for servers that cannot be reached is left to them after so long: one that is
 * slow has answered by then, and most that restart are back.
 */
const downMsMaxFirst = 10_000;
/** A server to which an earlier wave left something is not waited for as long again. */
const downMsMaxAgain = 1_000;

export interface Drains {
  /** Partitions still to be given up, by address. */
  readonly left: readonly {
    readonly address: string;
    readonly partitions: number;
    readonly reason: string;
    /** Where a word of an operator is wanted, or the server is away. */
    readonly code?: ErrorCode;
    readonly devices: readonly number[];
    /** The server drops nothing before an operator has seen what (`trash RING confirm`). */
    readonly isHeld?: true;
  }[];
  /** All that is left waits for servers that cannot be reached: nothing else is kept from going on. */
  readonly isLeftToDown: boolean;
}

/**
 * What is left when it ends: nothing, or what made no progress for `stallMs`; at once what waits
 * for the word of an operator, who settles a fork or confirms drops; or what can only go when a
 * server is back that cannot be reached, if it was removed, or with `skipDown`. The ring is in
 * force either way.
 */
export async function waitForDrains(
  context: Context,
  wanted: {
    readonly head: StoredVersion;
    readonly watch: MoveWatch;
    readonly stallMs: number;
    readonly skipDown: boolean;
    /** Let go what servers hold back, as soon as it is seen. */
    readonly confirmDrops: boolean;
    /** Addresses of servers to which an earlier wave left something. */
    readonly leftBefore: ReadonlySet<string>;
  },
): Promise<Drains> {
  const { head, watch, stallMs, skipDown, confirmDrops, leftBefore } = wanted;
  const targets = ringTargets(head.ring, head.state);
  const isSilent = silenceOf(context.nowMs, { leftBefore, stallMs });
  const { answer } = await waitUntil({
    ask: async () => {
      const look = await watch.look(head, 'old holders give up');
      const held = confirmDrops ? heldByDevices(targets, look) : [];
      if (held.length > 0) await letGo(held, head.ring.keyspace);
      const left = leftOn(head, targets, look);
      const isLeftToDown = isSilent(left) && waitsForDown(head, look, skipDown);
      return { left, isLeftToDown };
    },
    isDone: ({ left, isLeftToDown }) =>
      left.every(({ code, isHeld }) => code === 'RING_FORK' || (isHeld && !confirmDrops)) ||
      isLeftToDown,
    progressOf: ({ left }) => left.map(({ partitions }) => partitions).join(),
    stallMs,
    pause: (tookMs) => watch.pause(head, tookMs),
    nowMs: context.nowMs,
    tell: () => undefined, // the board says more
  });
  return { left: answer.left, isLeftToDown: answer.left.length > 0 && answer.isLeftToDown };
}

/** To be told each look: whether every server that is away has been so for as long as it is waited for. */
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
 * Each partition that is still to be given up has a holder that cannot be reached: one that was
 * removed, of which nobody waits for an answer (`said` has none), or with `skipDown` any.
 */
function waitsForDown({ ring }: StoredVersion, { said }: Look, skipDown: boolean): boolean {
  const isDown = (device: number): boolean => {
    const status = said.get(device);
    if (status === undefined) return true;
    return skipDown && status instanceof CodedError && status.code === 'PEER_UNREACHABLE';
  };
  return [...said].every(([device, status]) => {
    if (status instanceof Error) return isDown(device);
    return (
      status.version >= ring.version &&
      status.draining.every(({ partition }) => holdersOf(ring, partition).some(isDown))
    );
  });
}

/** The word of the ring's devices alone: of another server at such an address, trash confirm asks. */
function heldByDevices(targets: readonly Target[], look: Look): HeldDrops[] {
  return heldDrops(spokenBy(targets, look)).filter(({ device }) => device !== null);
}

/** What each server says of itself. */
function spokenBy(targets: readonly Target[], { said }: Look) {
  return targets.map((target) => {
    const answers = target.devices.map((id) => said.get(id));
    return { ...target, said: answers.find((one) => one !== undefined) };
  });
}

const removedReason = 'its devices were removed, and it cannot be reached';

function leftOn({ ring }: StoredVersion, targets: readonly Target[], look: Look): Drains['left'] {
  return spokenBy(targets, look).flatMap(({ address, devices, said: status }): Drains['left'] => {
    if (status === undefined) {
      // Removed, and silent: it may be gone for good, or be back in a moment with files to give up.
      return [{ address, devices, partitions: 0, reason: removedReason, code: 'PEER_UNREACHABLE' }];
    }
    if (status instanceof Error) {
      const code = status instanceof CodedError ? { code: status.code } : {};
      return [{ address, devices, partitions: 0, reason: status.message, ...code }];
    }
    if (status.version < ring.version) {
      return [{ address, devices, partitions: 0, reason: 'has not this version yet' }];
    }
    const { surplus, draining, fork, freshness, held } = status;
    const reason = draining[0]?.reason ?? '';
    if (surplus === 0) return [];
    const left = { address, devices, partitions: surplus, reason };
    if (fork?.settled === null) return [{ ...left, code: 'RING_FORK' }];
    if (freshness.state === 'expired') return [{ ...left, code: 'BEACON_EXPIRED' }];
    return [held.drops + held.quarantines < surplus ? left : { ...left, isHeld: true }];
  });
}
