// Answers `why RING PARTITION`: each slot with its rule, its history and its next move.
import type { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { type SlotRule, type SlotWhy, whySlots } from '@ringwright/builder/analysis/why-slot';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import type { OpenedRing } from '@ringwright/repository/open-ring';
import { intervalJson, intervalOf, intervalText } from '@ringwright/ring/partitioner/intervals-of';
import { movesOf } from '@ringwright/ring/slots-of';
import type { Answer, Context } from '../../cli/command.ts';
import { hoursOf, MS_PER_HOUR } from '../../cli/hours.ts';
import { askMoves } from '../../moves/ask-moves.ts';
import { moveRows } from '../../moves/move-rows.ts';
import { type StuckAdvice, stuckOf } from '../../moves/stuck-moves.ts';
import type { PreparedPlan } from '../../plan/prepare-plan.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import { partitionHistory, type SlotEvent } from './partition-history.ts';

const sentences: Readonly<Record<SlotRule, string>> = {
  removed: 'its device was removed: it must move',
  drained: 'its device has weight 0: it will move away',
  dispersion:
    'a failure domain of its device holds too many replicas of the partition: it will move',
  share: 'its device holds more than its share: one of its slots will move, this or another one',
  pinned: 'it is pinned there: ring-builder unpin would free it',
  held: 'its device is in maintenance and keeps its slots',
  'only-place': 'dispersion: no other device could hold it without breaking a bound',
  full: 'share: other devices could hold it, but all of them have their share',
  component: 'its component placed it there',
  walk: 'tokens: the device is among the first ones clockwise from the end of the partition',
  pairs:
    'pair spread: another device also has room for it; the choice keeps shared partitions even',
};

export async function whyPartition(
  input: WhyInput,
  partition: number,
  key: string | null,
): Promise<Answer> {
  const { context, opened, head, next } = input;
  const { ring } = head;
  const state = stateOf(head);
  const slots = whySlots(ring, state, partition);
  const source = { rings: context.rings, entries: opened.entries };
  const history = await partitionHistory(source, head, partition);
  const { stuck, blocks: moving } = await moveBlocks(input, partition);
  const blocks = [...moving, ...blocksOf(input, partition)];
  const planned = next instanceof Error ? [] : next.plan.moves;
  const plannedMoves = planned.filter((move) => move.partition === partition);
  const future =
    next instanceof Error ? next.message : plannedMoves.length === 0 ? 'it stays' : null;
  const { keyspace, version } = ring;
  const interval = intervalOf(ring.partitioner, partition);
  const within = interval === null ? '' : ` ${intervalText(interval)}`;
  return {
    json: {
      ring: keyspace,
      version,
      partition,
      ...(interval !== null && { interval: intervalJson(interval) }),
      ...(key === null ? {} : { key }),
      slots,
      history: history.events,
      historyEnds: history.ends,
      blocks,
      next: { moves: plannedMoves, refused: next instanceof Error ? next.code : null },
    },
    lines: [
      `${keyspace} version ${version}, partition ${partition}${within}${key === null ? '' : ` of key ${key}`}`,
      ...slots.flatMap((slot) => ['', ...printSlot(slot, state, history.events)]),
      '',
      ...componentLines(input, state, partition),
      history.ends !== null && `the history ends here: ${history.ends}`,
      ...(blocks.length === 0
        ? ['nothing blocks it']
        : blocks.map(({ message }) => `blocked: ${message}`)),
      future !== null && `next version: ${future}`,
      ...plannedMoves.map(
        ({ replica, from, to }) => `next version: replica ${replica} moves, ${routeText(from, to)}`,
      ),
    ],
    next: context.next(
      stuck?.next ?? (plannedMoves.length > 0 ? `plan ${keyspace}` : `log ${keyspace}`),
    ),
  };
}

/** Says which component placed each row of a composite ring, and the command that explains it. */
function componentLines({ context }: WhyInput, state: BuilderState, partition: number): string[] {
  let next = 0;
  return (state.components ?? []).map(({ ring, replicas }) => {
    const rows = Array.from({ length: replicas }, () => next++).join(' ');
    const which = replicas === 1 ? `replica ${rows} is` : `replicas ${rows} are`;
    return `${which} placed by ${ring}: ${context.next(`why ${ring} ${partition}`)}`;
  });
}

function printSlot(slot: SlotWhy, state: BuilderState, events: readonly SlotEvent[]): string[] {
  const { replica, device, joiner, rule, slots, share, domains, alternatives, pairs } = slot;
  const found = state.devices[device] ?? null;
  const name = found === null ? `d${device}` : nameDevice(found);
  const slotEvents = events.filter((event) => event.replica === replica);
  return [
    `replica ${replica} on ${name}${joiner === null ? '' : `, moving to d${joiner}`}`,
    `  rule     ${sentences[rule]}`,
    `  share    d${device} holds ${counted(slots, 'slot')}, its share is ${share.toFixed(2)}; ` +
      `${counted(alternatives, 'other device')} could hold this slot`,
    ...domains.map(
      ({ tier, name: domain, held, least, most }) =>
        `  ${tier.padEnd(7)}  ${domain} holds ${held} of the replicas of this partition, allowed ${least} to ${most}`,
    ),
    ...pairs.map(
      ({ device: other, shared, even }) =>
        `  pair     shares ${counted(shared, 'partition')} with d${other}, an even spread would be ${even.toFixed(1)}`,
    ),
    ...slotEvents.map(printEvent),
  ];
}

function printEvent({ version, kind, from, to, reason, user, time, message }: SlotEvent): string {
  const move = kind === 'first' ? `placed on d${to}` : `${routeText(from, to)} ${kind}`;
  const why = reason === null ? '' : `: ${reason.sentence}`;
  return `  v${version}       ${move}${why} (${user}, ${time.slice(0, 16)}, ${message})`;
}

/** A slot of a partition that a split or merge made has no previous device. */
function routeText(from: number | null, to: number): string {
  return from === null ? `new on d${to}` : `d${from} to d${to}`;
}

interface Block {
  readonly code: string;
  readonly message: string;
}

/** Asks servers only if a slot of the partition is moving. */
async function moveBlocks(
  { head }: WhyInput,
  partition: number,
): Promise<{ readonly blocks: readonly Block[]; readonly stuck: StuckAdvice | null }> {
  const { ring, state } = head;
  const moves = movesOf(ring, partition);
  if (moves.length === 0) return { blocks: [], stuck: null };
  const statuses = await askMoves(ring, ringTargets(ring, state));
  const rows = moveRows(ring, statuses).filter((row) => row.partition === partition);
  const stuck = stuckOf(head, rows, statuses);
  const blocks = moves.map((move): Block => {
    const row = rows.find(({ assignment }) => assignment === move.assignment);
    const why = row?.stage === 'failed' ? `it failed: ${row.reason}` : 'rollout finishes it';
    const { replica, from, to } = move;
    const message = `replica ${replica} is ${move.state} from d${from} to d${to}: ${why}`;
    return { code: 'MOVE_IN_FLIGHT', message };
  });
  if (stuck !== null) blocks.push({ code: 'MOVE_IN_FLIGHT', message: stuck.text });
  return { blocks, stuck };
}

function blocksOf(input: WhyInput, partition: number): Block[] {
  const { ring } = input.head;
  const blocks: Block[] = [];
  const { pins = [], devices } = stateOf(input.head);
  for (const { on, off } of pins.filter((pin) => pin.partition === partition)) {
    const named = [...on.map((id) => `on d${id}`), ...off.map((id) => `off d${id}`)];
    blocks.push({ code: 'PARTITION_PINNED', message: `it is pinned ${named.join(', ')}` });
  }
  for (const row of ring.table) {
    const device = devices[row[partition] ?? -1];
    if (device?.hold === undefined) continue;
    blocks.push({ code: 'DEVICE_HELD', message: `d${device.id} is held: ${device.hold}` });
  }
  const hours = hoursFrozen(input, partition);
  if (hours > 0) {
    const message = `it moved recently: min_part_hours keeps it another ${hours.toFixed(1)} hours`;
    blocks.push({ code: 'PARTITION_FROZEN', message });
  }
  return blocks;
}

export interface WhyInput {
  readonly context: Context;
  readonly opened: OpenedRing;
  readonly head: StoredVersion;
  /** The plan that a commit would make now, or the error that prevents it. */
  readonly next: PreparedPlan | CodedError;
}

/** Returns the hours until minPartHours lets the partition move again; 0 if it may move now. */
function hoursFrozen({ context, opened, head }: WhyInput, partition: number): number {
  const touched = head.ring.minVersions[partition] ?? 0;
  const committedHour = hoursOf(opened.entries).get(touched);
  const { minPartHours, restedThrough = 0 } = stateOf(head);
  if (committedHour === undefined || touched <= restedThrough) return 0;
  const hoursPassed = context.nowMs() / MS_PER_HOUR - committedHour;
  return Math.max(0, minPartHours - hoursPassed);
}
