// ring-builder status: shows the head, the staged changes, and the next command to type.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Staged } from '@ringwright/builder/state/change';
import { changeCommand } from '@ringwright/builder/state/composition';
import { increaseHint, powerIncrease } from '@ringwright/builder/state/steady-power';
import { type Approval, approvalOf } from '@ringwright/repository/approval';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { describeOwner, lockOwner } from '@ringwright/repository/folder/ring-lock';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { unprovedPartitions } from '@ringwright/repository/shared/move-proof';
import { stagedCommands } from '@ringwright/repository/stage-changes';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { type Command, type Context, flagOption, type Lines } from '../../cli/command.ts';
import { standingOf } from '../../health/advice-context.ts';
import { movesNow } from '../../health/moves-now.ts';
import { adviceOnCode } from '../../servers/advice.ts';
import type { Advice } from '../../servers/advice-rule.ts';
import { deviceNames } from '../../servers/gone-for-good.ts';
import { removedHolders } from '../../servers/ring-targets.ts';
import { cancelledSince, printPartitions } from '../../versions/cancelled-since.ts';
import { composedAnew, compositesOf } from '../../versions/composites.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import {
  type DeviceStanding,
  deviceStandings,
  drainedLines,
  standingText,
} from '../../versions/device-standings.ts';
import { exportCommand, isForSwift, lastPush, pushLine } from '../../versions/last-push.ts';
import { newerComponents, newerLines } from '../../versions/newer-components.ts';
import { pinLines } from '../../versions/pins.ts';
import { rampLines, rampRows } from '../../versions/ramps.ts';
import { signersLine, trustOf } from '../../versions/signing.ts';
import { describeChange } from '../../versions/stage-command.ts';
import { wavesLeft, wavesLeftLines } from '../../versions/waves-left.ts';

const DEVICES_SHOWN_MAX = 50;

export const command: Command = {
  options: {
    offline: flagOption('do not ask servers about the progress of moves'),
  },
  examples: [['$0 status cities', 'devices, with staged changes, and the next command']],
  run: async (args, context) => {
    const ring = args.text('ring');
    const opened = await openRing(context.rings, ring);
    const { head, entries, staged } = opened;
    const changes = stagedChanges(staged);
    const stored = head === null ? null : await readVersion(context.rings, ring, 'head');
    const inFlight = stored?.ring.moves.length ?? 0;
    const push = lastPush(entries);
    const pushed = push?.version ?? null;
    const left = stored === null ? null : wavesLeft(stored, entries, context.nowMs());
    const { movesLeft = 0, movesNotNoted = 0, restsUntil = null } = left ?? {};
    const cancelled = cancelledSince(entries);
    const trust = stored && (await trustOf(context));
    const signing = stored && approvalOf(stored, trust);
    const removed = stored ? removedHolders(stored.ring, opened.state) : [];
    const advice = stored && signing && adviceOnHead({ opened, stored, signing, trust });
    const isPushed = pushed !== null && !args.flag('offline');
    const now = isPushed && stored !== null ? await movesNow(context, stored) : null;
    const lock = await lockOwner(ringFolder(context.rings, ring));
    const state = applyChanges(opened.state, changes);
    const ahead = await newerComponents(context.rings, opened.state);
    const change = changeText(context, opened.state);
    const devices = deviceStandings(state, opened.state, stored?.ring ?? null);
    const found = {
      ...{ inFlight: inFlight + movesLeft - movesNotNoted, movesNotNoted, pushed },
      ...{ isOnPaper: pushed === null && inFlight === 0, forSwift: isForSwift(entries) },
      ...{ changes: changes.length, advice, instead: now?.instead ?? null, removed },
      ...{ follow: ahead.follow ?? (await partOf(context, opened)), cancelled: cancelled.length },
    };
    const next = context.next(nextCommand(opened, found));
    const ramps = rampRows(state, context.nowMs());
    const forced = unprovedPartitions(entries);
    return {
      json: {
        ...{ ring, head: head?.version ?? null, id: head?.id ?? null },
        ...{ staged, changes: changes.length },
        ...{ inFlight, stages: now?.stages ?? null, silent: now?.silent ?? null },
        ...{ movesLeft, movesNotNoted, restsUntil, cancelled },
        ...{ ramps, pins: opened.state.pins ?? [], pushed, push, signing },
        forced: [...forced].map(([partition, reason]) => ({ partition, reason })),
        frozen: powerIncrease(opened.state),
        components: opened.state.components?.map(({ devices: _devices, ...of }) => of) ?? null,
        ...{ newer: ahead.newer, lock },
        devices,
        next,
      },
      lines: [
        headLine(opened, inFlight),
        ...(now?.lines ?? []),
        pushLine(push),
        ...frozenLines(opened.state),
        ...composedLines(opened.state, newerLines(context, ahead)),
        ...pinLines(opened.state, (partition) => context.next(`unpin ${ring} ${partition}`)),
        ...(left === null ? [] : wavesLeftLines(ring, left)),
        ...drainedLines(devices, (names) => context.next(`remove ${ring} ${names}`)),
        cancelled.length > 0 && `canceled: moves of ${printPartitions(cancelled)}; ${change}`,
        removed.length > 0 && `removed, but still with slots: ${deviceNames(removed)}; ${change}`,
        ...signingLines(signing),
        advice?.isFirst === true && advice.text,
        ...forcedLines([...forced.keys()]),
        lock !== null && `being changed by ${describeOwner(lock)}`,
        devices.length > 0 && '',
        ...devicesTable(devices),
        '',
        ...rampLines(ramps, context.next(`plan ${ring} --step-ramps`)),
        ...stagedLines(staged, state),
      ],
      next,
    };
  },
};

function headLine({ ring, head }: OpenedRing, inFlight: number): string {
  if (head === null) return `${ring}: no version yet`;
  const moves = `${counted(inFlight, 'move')} in flight`;
  return `${ring}: version ${head.version} (${head.id.slice(0, 12)}), ${moves}`;
}

function devicesTable(devices: readonly DeviceStanding[]): Lines {
  const more = devices.length > DEVICES_SHOWN_MAX;
  return [
    ...printTable(devices.slice(0, DEVICES_SHOWN_MAX), [
      { head: 'DEVICE', cell: nameDevice },
      { head: 'WEIGHT', cell: (device) => standingText(device, 'weight') },
      { head: 'STATE', cell: (device) => standingText(device, 'state') },
    ]),
    more && `… ${devices.length} devices in all`,
  ];
}

/**
 * The servers do not need a component's own version: they get the ring composed of it. Returns the
 * command for that ring.
 */
async function partOf(
  { rings }: Context,
  { ring, head, entries }: OpenedRing,
): Promise<string | null> {
  const composites = await compositesOf(rings, ring);
  const [first] = composites;
  if (first === undefined || head === null) return null;
  const statusCommand = lastPush(entries) === null ? `status ${first.state.ring}` : null;
  return composedAnew(composites, head.version) ?? statusCommand;
}

function frozenLines(state: BuilderState): string[] {
  const reason = powerIncrease(state);
  return reason === null ? [] : [`frozen: ${reason}; ${increaseHint}`];
}

/** For a composite ring no command shows a plan before it is composed anew. */
function changeText(context: Context, state: BuilderState): string {
  const command = context.next(changeCommand(state));
  return state.components === undefined
    ? `${command} shows what a commit would do`
    : `${command} moves what is left`;
}

function composedLines({ components }: BuilderState, newer: readonly string[]): string[] {
  if (components === undefined) return [];
  const componentsText = components.map(({ ring, version }) => `${ring} ${version}`).join(', ');
  return [`composed of ${componentsText}`, ...newer];
}

/** Numbered by command, as unstage takes them. */
function stagedLines(staged: readonly Staged[], state: BuilderState): string[] {
  const commands = stagedCommands(staged);
  if (commands.length === 0) return ['nothing is staged'];
  return commands.flatMap(({ changes, user, time }, index) => {
    const by = user === undefined ? '' : ` (${user}, ${time?.slice(0, 16)}Z)`;
    return changes.map((change) => `staged ${index + 1}: ${describeChange(change, state)}${by}`);
  });
}

function forcedLines(partitions: readonly number[]): string[] {
  if (partitions.length === 0) return [];
  return [`forced, and may have lost writes: partitions ${partitions.join(' ')}`];
}

function signingLines(signing: Approval | null): string[] {
  if (signing === null || (signing.missing === 0 && !signing.signed)) return [];
  const { signed, needed } = signing;
  if (!signed) return ['not signed under the root of trust of this folder: it cannot be pushed'];
  if (needed === 0) return ['signed, but the trust.json that lists the keys is missing'];
  return [signersLine(signing)];
}

function nextCommand(
  { ring, head, state }: OpenedRing,
  found: {
    /** Including the moves left for later waves. */
    readonly inFlight: number;
    /** No server has the ring, so commits make the remaining moves. */
    readonly isOnPaper: boolean;
    readonly forSwift: boolean;
    readonly movesNotNoted: number;
    readonly pushed: number | null;
    readonly changes: number;
    readonly advice: HeadAdvice | null;
    /** Removed devices with slots that no move takes away. */
    readonly removed: readonly number[];
    /** The command that the servers' state suggests while moves are in flight; null: continue. */
    readonly instead: string | null;
    /** Number of partitions with moves canceled since the last commit. */
    readonly cancelled: number;
    /**
     * The command by which a composite ring, this one or another, follows its components; null:
     * none.
     */
    readonly follow: string | null;
  },
): string {
  if (found.advice?.isFirst === true) return found.advice.command;
  if (found.instead !== null) return found.instead;
  if (found.inFlight > 0 && !found.isOnPaper) return `rollout ${ring}`;
  if (powerIncrease(state) !== null) return `show ${ring}`;
  const waits = found.changes > 0 || found.movesNotNoted > 0;
  if (waits || (found.removed.length > 0 && found.inFlight === 0)) {
    return changeCommand(state);
  }
  if (found.follow !== null) return found.follow;
  // After canceled moves its table is no longer that of its components.
  if (state.components !== undefined && found.cancelled > 0) return changeCommand(state);
  if (found.forSwift && head !== null) return exportCommand(ring);
  if (found.inFlight > 0) return `commit ${ring} -m "the moves that were left"`;
  if (head === null && state.components !== undefined) return changeCommand(state);
  if (head === null) {
    return state.devices.length > 0 ? `plan ${ring}` : `add ${ring} r1z1-10.0.0.1:6200/sdb 100`;
  }
  // Removed devices leave the ring at the end of a rollout.
  const leaving = state.devices.some((device) => device?.state === 'removed');
  if (leaving && found.pushed !== null) return `rollout ${ring}`;
  return found.advice?.command ?? `log ${ring}`;
}

interface HeadAdvice extends Advice {
  /** The advice comes before all else, because the head cannot be pushed. */
  readonly isFirst: boolean;
}

/**
 * Returns advice by what a server would answer to the head; null if the servers have it according
 * to the log.
 */
function adviceOnHead(head: {
  readonly opened: OpenedRing;
  readonly stored: StoredVersion;
  readonly signing: Approval;
  /** Null: rings here are unsigned. */
  readonly trust: Trust | null;
}): HeadAdvice | null {
  const { opened, stored, signing, trust } = head;
  const { ring } = stored;
  const isFirst = signing.missing > 0;
  if (!isFirst && lastPush(opened.entries)?.version === ring.version) return null;
  const context = { ring, ...standingOf(stored, opened.entries, trust && signing.signed) };
  const waits = signing.signed ? 'BRAKE' : 'SIGNATURES_MISSING';
  return { ...adviceOnCode(context, isFirst ? waits : 'RING_UNKNOWN'), isFirst };
}
