// Describes what a plan's moves cost while some servers do not answer. Pure.

import { counted } from '@ringwright/base/counted';
import type { PlannedMove } from '@ringwright/builder/plan/plan';
import type { Ring } from '@ringwright/ring/ring';
import type { Lines } from '../cli/command.ts';
import { printSeconds } from '../cli/print-bytes.ts';
import { hasSources } from '../moves/stuck-moves.ts';
import { withoutForGood } from '../servers/gone-for-good.ts';
import type { Target } from '../servers/ring-targets.ts';
import { sizesTimeoutMs } from './known-sizes.ts';
import {
  awayNames,
  awayText,
  type UnreachableImpact,
  unreachableImpact,
} from './unreachable-impact.ts';

export interface PlanWithoutServers {
  readonly servers: readonly Target[];
  readonly holders: UnreachableImpact;
  /**
   * Slots that move away from them, with one copy fewer until other holders have filled the new
   * one.
   */
  readonly slotsFrom: number;
  /** Slots that move to them. */
  readonly slotsTo: number;
  /** Of these: slots that a split or merge fills on removed devices. */
  readonly slotsToRemoved: number;
  /** Partitions whose moves need N - W + 1 other holders, where fewer answer; the first ten. */
  readonly stuck: number;
  readonly stuckFirst: readonly number[];
}

const PARTITIONS_SHOWN_MAX = 10;

/** Returns null if every server answers. */
export function planAway(
  head: Ring,
  moves: readonly PlannedMove[],
  servers: readonly Target[],
): PlanWithoutServers | null {
  if (servers.length === 0) return null;
  const away = new Set(servers.flatMap(({ devices }) => devices));
  const removed = new Set(servers.flatMap((one) => (one.required ? [] : one.devices)));
  const fromAway = moves.filter(({ from }) => from !== null && away.has(from));
  const grown = moves.filter(({ from }) => from === null);
  const lacking = [...fromAway, ...grown].filter((move) => !hasSources(head, move, away));
  const stuck = [...new Set(lacking.map(({ partition }) => partition))];
  return {
    servers,
    holders: unreachableImpact(head, away),
    slotsFrom: fromAway.length,
    slotsTo: moves.filter(({ to }) => away.has(to)).length,
    slotsToRemoved: moves.filter(({ to }) => removed.has(to)).length,
    stuck: stuck.length,
    stuckFirst: stuck.slice(0, PARTITIONS_SHOWN_MAX),
  };
}

export function planAwayLines(head: Ring, found: PlanWithoutServers): Lines {
  const { servers, holders, slotsFrom, slotsTo } = found;
  const removed = servers.filter(({ required }) => !required);
  const required = servers.filter((one) => one.required);
  return [
    `no answer within ${printSeconds(sizesTimeoutMs / 1_000)} from ${awayNames(servers)}: ` +
      awayText(head, holders),
    slotsFrom > 0 &&
      `no copies come from there: ${counted(slotsFrom, 'slot has', 'slots have')} one copy ` +
        'less until a rollout has copied from other holders',
    slotsTo > 0 &&
      `${counted(slotsTo, 'slot moves', 'slots move')} there: a rollout waits for this`,
    ...stuckLines(head, found),
    removed.length > 0 && removedLine(head, found, awayNames(removed)),
    required.length > 0 && adviceLine(head, required),
  ];
}

/** Before other moves, a split or merge fills its slots on all holders, removed ones too. */
function removedLine(
  { keyspace }: Ring,
  { slotsToRemoved }: PlanWithoutServers,
  names: string,
): string {
  if (slotsToRemoved === 0) return `${names}: removed, so a rollout does not wait for an answer`;
  const slots = counted(slotsToRemoved, 'slot', 'slots');
  return (
    `${names}: removed, but the split or merge fills ${slots} there first; if it will not come ` +
    `back, ring-builder unstage ${keyspace} NUMBER, with the number of the split or merge in ` +
    `ring-builder status ${keyspace}, and stage it again after the rollout of the removal`
  );
}

function stuckLines({ keyspace }: Ring, { stuck, stuckFirst }: PlanWithoutServers): string[] {
  if (stuck === 0) return [];
  const more = stuck > stuckFirst.length ? ' …' : '';
  const force = `ring-builder moves ${keyspace} force PARTITION --reason TEXT`;
  return [
    `too few other holders of ${counted(stuck, 'partition')} answer ` +
      `(${stuckFirst.join(' ')}${more}): a rollout waits for them; ${force} loses the records that only the unreachable ones have`,
  ];
}

function adviceLine(head: Ring, servers: readonly Target[]): string {
  const gone = servers.flatMap(({ devices }) => devices);
  return (
    `start ${awayNames(servers)} before the rollout, or ring-builder rollout ${head.keyspace} ` +
    `--skip-down continues without them${withoutForGood({ ring: head }, gone)}`
  );
}
