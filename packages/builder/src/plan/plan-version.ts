// Plans the next version of a ring: the wanted table, the moves to it, and warnings. Pure.
import { evenGoal } from '../flow/even-bytes.ts';
import { type PinnedProblem, pinnedProblem } from '../flow/pinned-targets.ts';
import { rebalance } from '../flow/rebalance.ts';
import {
  checkReplicaStep,
  cutTable,
  frozenInShape,
  reshaped,
  urgentSlots,
} from '../placement/change-replicas.ts';
import { heldLeaves, heldProblem, withoutHeld } from '../placement/held-devices.ts';
import { interimTargets } from '../placement/interim-targets.ts';
import { placeInitial } from '../placement/place-initial.ts';
import { type Placement, placementOf, tableOf } from '../placement/placement.ts';
import { type PlacementProblem, placementProblem } from '../placement/placement-problem.ts';
import { computeQuotas } from '../placement/quotas.ts';
import { createRules } from '../placement/slot-rules.ts';
import { walkPlacement } from '../placement/walk-placement.ts';
import type { BuilderState } from '../state/builder-state.ts';
import {
  frozenToo,
  headAfterMoves,
  inFlightFindings,
  type LandedHead,
} from '../state/moves-in-flight.ts';
import { denseHead, sparsePlan } from './dense-head.ts';
import { filledPlan } from './filled-plan.ts';
import { type CommitTimes, frozenPartitions } from './frozen-partitions.ts';
import { moveCount, rememberedWaves } from './later-waves.ts';
import { liftFindings } from './lift-findings.ts';
import type { Plan, PlanBasis, PlannedMove } from './plan.ts';
import { devicePlans, slotsPerDevice } from './plan-devices.ts';
import { gapFindings, moveBound, movesTo, provenOptimum } from './plan-optimum.ts';
import {
  planReshape,
  requireNewIntervals,
  requireUnsplit,
  wantedIntervals,
} from './plan-reshape.ts';
import { planWarnings } from './plan-warnings.ts';
import { planWaves } from './plan-waves.ts';
import { keepRows } from './waves.ts';

/** `state` already includes the staged changes. */
export type PlanInput = PlanBasis & CommitTimes;

/**
 * Returns the plan of the version after `head`, or of version 1. Deterministic.
 * Moves in flight continue: the plan treats them as complete and moves other partitions.
 * Errors: MOVES_IN_FLIGHT, REPLICAS_EXCEED_DEVICES with both numbers, VALUE_OUT_OF_RANGE, and for
 * splits and merges RESHAPE_UNFIT and MERGE_APART.
 */
export function planVersion(input: PlanInput): Plan {
  const { state, direct = false } = input;
  if (input.head === null) return planFirst(input, placementProblem(withoutHeld(state)));
  const intervals = wantedIntervals(input.head, state);
  if (intervals !== null) {
    requireNewIntervals(input.head, input.state, intervals);
    return planReshape({ ...input, head: input.head }, intervals);
  }
  const dense = denseHead(input.head, state);
  if (dense !== null) {
    const { head } = input;
    return sparsePlan(planVersion({ ...input, ...dense }), { head, state }, dense);
  }
  const landed = headAfterMoves(input.head, state, { direct });
  const problem = heldProblem(placementProblem(state), state, landed.head);
  return planNext({ ...input, ...landed }, problem);
}

function planFirst(input: PlanInput, problem: PlacementProblem): Plan {
  const { state } = input;
  requireUnsplit(state);
  const { tree, targets, ring } = problem;
  const initial = isWalked(state)
    ? walkPlacement(state, tree)
    : placeInitial(tree, computeQuotas(tree, targets, null), ring);
  const pinned = pinnedProblem(problem, state, () => initial);
  const placement = pinned.solved ?? initial;
  const target = tableOf(placement, tree, { ...ring, devices: state.devices.length });
  const optimum = { moves: 0, proof: 'bound' } as const;
  const devices = devicePlans(state, problem, { target, moves: [] });
  const nothing = { moves: [], movesLeft: 0, partitionsMovingTwice: 0, frozen: 0 };
  const warnings = planWarnings(state, pinned, { ...nothing, devices, goal: placement });
  return filledPlan(input, { target, moves: [], optimum, devices, warnings });
}

type NextInput = PlanInput & LandedHead;

function planNext(input: NextInput, problem: PlacementProblem): Plan {
  const { head, state, moving } = input;
  const { tree } = problem;
  const { replicas } = state;
  checkReplicaStep(input);
  const before = placementOf(head, tree, Math.ceil(replicas));
  const pinned = pinnedProblem(problem, state, () => before);
  const { targets } = pinned;
  const place = isWalked(state) ? walkNext : placeNext;
  const { wanted, goal, fewest, frozen } = place(input, pinned, before);
  const swapMoves = wanted === fewest ? 0 : movesTo(before, wanted) - movesTo(before, fewest);
  const cut = cutTable(head, wanted, { tree, replicas });
  const start = cut === null ? before : placementOf({ ...head, ...cut }, tree, wanted.width);
  const { table } = cut ?? head;
  const forced = urgentSlots({ ...head, table }, state, wanted.width);
  keepRows(start, wanted);
  const limits = { tree, forced, rules: createRules(tree, targets) };
  const { target, moves, waves } = planWaves(
    { state, table, start, wanted, goal, moving, direct: input.direct === true },
    limits,
  );
  const movesLeft = moveCount(waves);
  const later = rememberedWaves(waves);
  const bound = isWalked(state) ? movesTo(before, goal) : moveBound(tree, targets, before);
  const least = moves.length + movesLeft - swapMoves;
  const question = { head, state, problem: pinned, wanted: fewest, moves: least, bound };
  const optimum = frozen === null ? provenOptimum(question) : null;
  const free = frozen === null && isFree(state);
  const counts = { moves, movesLeft, partitionsMovingTwice: partitionsTwice(moves) };
  const devices = devicePlans(state, problem, { head, target, moves });
  // Partitions that wait for a move in flight are not counted as frozen by min_part_hours.
  const resting = (frozen?.reduce((sum, one) => sum + one, 0) ?? 0) - moving.size;
  return filledPlan(input, {
    ...counts,
    target,
    cut,
    moveLowerBound: bound,
    optimum,
    swapMoves,
    later,
    devices,
    warnings: [
      ...inFlightFindings(moving),
      ...planWarnings(state, pinned, { ...counts, devices, frozen: resting, goal }),
      ...liftFindings(slotsPerDevice(table, state.devices.length), [moves, ...waves]),
      ...(free ? gapFindings(question, optimum) : []),
    ],
  });
}

/** Whether tokens, not shares, decide the placement. */
function isWalked({ placement }: BuilderState): boolean {
  return placement === 'tokens';
}

/** Whether shares alone decide where slots go: no pins, and no held devices. */
function isFree({ pins, devices }: BuilderState): boolean {
  return pins === undefined && devices.every((device) => device?.hold === undefined);
}

interface NextPlacement {
  /** The placement now, as near to the goal as frozen partitions and moves in flight permit. */
  readonly wanted: Placement;
  /** The placement after all waves, when those partitions may move again. */
  readonly goal: Placement;
  /** Like `wanted`, before moves were spent on even bytes. */
  readonly fewest: Placement;
  readonly frozen: Uint8Array | null;
}

function placeNext(
  input: NextInput,
  { tree, targets, solved }: PinnedProblem,
  before: Placement,
): NextPlacement {
  const { head, state } = input;
  const { replicas } = state;
  const shape = reshaped(before, replicas);
  const frozen = frozenInShape(restingPartitions(input), before, shape);
  const held = heldLeaves(tree, state);
  const evenOptions = { state, tree, before, frozen, held, spends: frozen === null };
  if (solved !== null && frozen === null && held === null) {
    const wanted = evenGoal(solved, { ...evenOptions, targets });
    return { wanted, goal: wanted, fewest: solved, frozen };
  }
  const { slots } = shape;
  const forced = urgentSlots(head, state, before.width);
  const aim =
    frozen === null
      ? targets
      : interimTargets(tree, targets, { placement: { ...before, slots }, frozen, forced });
  const options = { tree, replicas, held };
  const fewest = rebalance({ ...options, targets: aim, before, frozen, forced });
  const wanted = evenGoal(fewest, { ...evenOptions, targets: aim });
  if (frozen === null) return { wanted, goal: wanted, fewest, frozen };
  const laterInput = { targets, before: wanted, frozen: null };
  const later = rebalance({ ...options, ...laterInput, forced: null });
  return {
    wanted,
    goal: evenGoal(later, { ...evenOptions, ...laterInput }),
    fewest: wanted,
    frozen,
  };
}

/** Returns the placement of the walk; frozen partitions stay as they are. */
function walkNext(input: NextInput, { tree }: PinnedProblem, before: Placement): NextPlacement {
  const { state } = input;
  const goal = walkPlacement(state, tree, before.width);
  const frozen = frozenInShape(restingPartitions(input), before, reshaped(before, state.replicas));
  if (frozen === null) return { wanted: goal, goal, fewest: goal, frozen };
  const leaf = goal.leaf.map((one, slot) =>
    frozen[Math.floor(slot / goal.width)] === 1 ? before.leaf[slot]! : one,
  );
  const wanted = { ...goal, leaf };
  return { wanted, goal, fewest: wanted, frozen };
}

/** Marks partitions that changed lately or have a move in flight with 1; null without any. */
function restingPartitions(input: NextInput): Uint8Array | null {
  const { head, state, moving } = input;
  const { restedThrough } = state;
  const times = { ...input, earlier: state.swift?.lastMoves, restedThrough };
  return frozenToo(frozenPartitions(head, state.minPartHours, times), moving, head.partitions);
}

/** Counts the partitions with more than one move. `moves` is sorted by partition. */
function partitionsTwice(moves: readonly PlannedMove[]): number {
  let count = 0;
  moves.forEach(({ partition }, index) => {
    const again = moves[index - 1]?.partition === partition;
    if (again && moves[index - 2]?.partition !== partition) count += 1;
  });
  return count;
}
