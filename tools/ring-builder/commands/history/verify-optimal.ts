// The proof behind verify --optimal: certifies the change that led to a version, from beginning to
// end.

import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { type Certificate, certify } from '@ringwright/builder/certify/certify';
import { denseHead } from '@ringwright/builder/plan/dense-head';
import { moveCount } from '@ringwright/builder/plan/later-waves';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import {
  readVersion,
  type StoredVersion,
  stateOf,
} from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { samePartitioner } from '@ringwright/ring/partitioner/partitioner-settings';
import type { Ring, Table } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import { notNoted } from '../../versions/waves-left.ts';

export interface OptimalityCheck {
  /**
   * The version in which the moves were committed: the requested one, or an earlier one whose moves
   * it continues.
   */
  readonly version: number;
  readonly certificate: Certificate;
  /** Moves made for even bytes, within the budget of that version. */
  readonly swapMoves: number;
  /** Moves of this version, and of later ones toward the certified table. */
  readonly moved: number;
  readonly movesLeft: number;
  readonly seconds: number;
}

/** Throws RING_VERSION_UNKNOWN, RING_FILE_INVALID if the version carries no builder state. */
export async function verifyOptimal(
  rings: string,
  ring: string,
  options: { readonly version: number; readonly nowMs: () => number },
): Promise<OptimalityCheck> {
  let stored = await readVersion(rings, ring, options.version);
  let before = await parentOf(rings, stored);
  while (before !== null && before.ring.moves.length > 0) {
    stored = before;
    before = await parentOf(rings, stored);
  }
  const { version } = stored.ring;
  const state = stateOf(stored);
  requireShares(state);
  const start = options.nowMs();
  const landed = finalizeMoves(initializeMoves(stored.ring, stored.id), stored.id);
  const entries = (await readLog(rings, ring)).filter((entry) => entry.version <= version);
  const { after, movesLeft } = carriedToEnd(landed, { ...stored, state }, entries);
  if (before !== null) requireNothingReshaped(before.ring, { ...landed, version });
  const dense = denseHead(landed, state)?.state ?? state;
  const found = certify({ before: before?.ring.table ?? [], after, state: dense });
  const proof = before === null ? null : proofBelowSwaps(found, before, state);
  const { certificate, swapMoves } = proof ?? { certificate: found, swapMoves: 0 };
  const seconds = (options.nowMs() - start) / 1_000;
  const moved = entries.findLast(makesVersion)?.moves ?? 0;
  return { version, certificate, swapMoves, moved, movesLeft, seconds };
}

/** With tokens there is nothing to prove: a plan is the difference between two walks. */
function requireShares({ ring, placement }: BuilderState): void {
  if (placement === undefined) return;
  throw new CodedError(
    'PLACED_BY_TOKENS',
    `ring ${ring} is placed by tokens: there are no shares to prove`,
    {
      hint: `ring-builder verify ${ring}; why ${ring} PARTITION explains the walk`,
    },
  );
}

/**
 * Throws RESHAPE_UNFIT for a split or merge: it leaves children where their parents lie, so there
 * is no placement to prove.
 */
function requireNothingReshaped(before: Ring, after: Ring): void {
  if (samePartitioner(before.partitioner, after.partitioner)) return;
  const { keyspace, version } = after;
  const what = `version ${version} of ${keyspace} splits or merges partitions in place`;
  const message = `${what}: it has no placement to prove`;
  throw new CodedError('RESHAPE_UNFIT', message, {
    hint: `ring-builder plan ${keyspace} shows what a rebalance would move now`,
    details: { version },
  });
}

async function parentOf(rings: string, child: StoredVersion): Promise<StoredVersion | null> {
  const { keyspace, version } = child.ring;
  return version === 1 ? null : readVersion(rings, keyspace, version - 1);
}

/**
 * Returns the table that a rollout reaches with the waves stored in the version. Moves beyond them
 * are planned anew, as a commit would plan them.
 */
function carriedToEnd(
  landed: Ring,
  { id, state, extraSections }: StoredVersion & { readonly state: BuilderState },
  entries: readonly LogEntry[],
): { readonly after: Table; readonly movesLeft: number } {
  const waves = laterWavesOf(extraSections);
  const table = copyTable(landed.table, landed.devices.length);
  for (const { partition, replica, to } of waves.flat()) {
    must(table[replica], `row ${replica} of the table`)[partition] = to;
  }
  const head: Ring = { ...landed, table };
  const movesLeft = moveCount(waves);
  if (notNoted(entries, movesLeft) === 0) return { after: table, movesLeft };
  const planned = plannedToEnd(head, id, state);
  return { ...planned, movesLeft: movesLeft + planned.moves };
}

function plannedToEnd(from: Ring, headId: string, state: BuilderState) {
  let [head, moves] = [from, 0];
  for (let left = true; left; ) {
    const input = { head, headId, state, direct: true };
    const plan = planVersion(input);
    moves += plan.moves.length;
    head = nextRing(plan, input);
    left = plan.movesLeft > 0;
  }
  return { after: head.table, moves };
}

/**
 * Proves a version with moves for even bytes, which come on top of the fewest. Proves the table
 * without such moves instead. Returns null if the version moves more than its budget permits.
 */
function proofBelowSwaps(
  { optimal, faults, moves }: Certificate,
  before: StoredVersion,
  { sizes, ...plain }: BuilderState,
) {
  if (optimal || faults.length > 0 || sizes?.swapBudget === undefined) return null;
  const { after } = plannedToEnd(before.ring, before.id, plain);
  const state = denseHead(before.ring, plain)?.state ?? plain;
  const fewest = certify({ before: before.ring.table, after, state });
  const swapMoves = moves - fewest.moves;
  return swapMoves > sizes.swapBudget ? null : { certificate: { ...fewest, moves }, swapMoves };
}
