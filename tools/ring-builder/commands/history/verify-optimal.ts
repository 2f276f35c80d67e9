// The proof behind verify --optimal: the move that led to a version, certified end to end.

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
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { samePartitioner } from '@ringwright/ring/partitioner/partitioner-settings';
import type { Ring, Table } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import { notNoted } from '../../versions/waves-left.ts';

export interface OptimalityCheck {
  /** The version in which the moves were committed: `asked`, or the one whose moves it carries on. */
  readonly version: number;
  readonly certificate: Certificate;
  /** Moves of this version, and of later ones towards the table that was certified. */
  readonly moved: number;
  readonly movesLeft: number;
  readonly seconds: number;
}

/** Throws RING_VERSION_UNKNOWN, RING_FILE_INVALID when the version carries no builder state. */
export async function verifyOptimal(
  rings: string,
  ring: string,
  asked: { readonly version: number; readonly nowMs: () => number },
): Promise<OptimalityCheck> {
  let made = await readVersion(rings, ring, asked.version);
  let before = await parentOf(rings, made);
  while (before !== null && before.ring.moves.length > 0) {
    made = before;
    before = await parentOf(rings, made);
  }
  const { version } = made.ring;
  const state = stateOf(made);
  requireShares(state);
  const start = asked.nowMs();
  const landed = finalizeMoves(initializeMoves(made.ring, made.id), made.id);
  const entries = (await readLog(rings, ring)).filter((entry) => entry.version <= version);
  const { after, movesLeft } = carriedToEnd(landed, { ...made, state }, entries);
  if (before !== null) requireNothingReshaped(before.ring, { ...landed, version });
  const dense = denseHead(landed, state)?.state ?? state;
  const certificate = certify({ before: before?.ring.table ?? [], after, state: dense });
  const seconds = (asked.nowMs() - start) / 1_000;
  const moved = entries.findLast(makesVersion)?.moves ?? 0;
  return { version, certificate, moved, movesLeft, seconds };
}

/** Tokens leave nothing to prove: a plan is the difference between two walks. */
function requireShares({ ring, placement }: BuilderState): void {
  if (placement === undefined) return;
  throw new CodedError('PLACED_BY_TOKENS', `ring ${ring} is placed by tokens: no shares to prove`, {
    hint: `ring-builder verify ${ring}; why ${ring} PARTITION names the walk`,
  });
}

/** Children lie where their parents lay: that is no placement to be proved. */
function requireNothingReshaped(before: Ring, after: Ring): void {
  if (samePartitioner(before.partitioner, after.partitioner)) return;
  const { keyspace, version } = after;
  const what = `version ${version} of ${keyspace} splits or merges partitions where they lie`;
  const message = `${what}: it places nothing`;
  throw new CodedError('RESHAPE_UNFIT', message, {
    hint: `ring-builder plan ${keyspace} shows what balance moves now`,
    details: { version },
  });
}

async function parentOf(rings: string, child: StoredVersion): Promise<StoredVersion | null> {
  const { keyspace, version } = child.ring;
  return version === 1 ? null : readVersion(rings, keyspace, version - 1);
}

function stateOf({ ring, state }: StoredVersion): BuilderState {
  if (state !== null) return state;
  throw new CodedError(
    'RING_FILE_INVALID',
    `version ${ring.version} of ${ring.keyspace} carries no builder state to verify against`,
  );
}

/**
 * The table that a rollout reaches with the waves that the version has noted. Moves beyond them are
 * planned anew, as a commit would.
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
  let head: Ring = { ...landed, table };
  let movesLeft = moveCount(waves);
  for (let left = notNoted(entries, movesLeft) > 0; left; ) {
    const input = { head, headId: id, state, direct: true };
    const plan = planVersion(input);
    movesLeft += plan.moves.length;
    head = nextRing(plan, input);
    left = plan.movesLeft > 0;
  }
  return { after: head.table, movesLeft };
}
