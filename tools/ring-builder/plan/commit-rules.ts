// Rules that a version must satisfy before it is committed, such as the reviewed plan. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import type { Plan } from '@ringwright/builder/plan/plan';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import type { ChangeGuard } from '@ringwright/repository/judge-version';
import { unprovedPartitions } from '@ringwright/repository/shared/move-proof';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { usage } from '../cli/arguments.ts';
import { textOption } from '../cli/command.ts';
import type { LackingRoom } from './lacking-room.ts';

/** The digits of a digest that are shown. `--plan` accepts any prefix of at least this length. */
const digestCharactersMin = 12;

/** Partitions named in a refusal; its details have the full number or list. */
const PARTITIONS_SHOWN_MAX = 10;

/** Throws PLAN_STALE with both digests, USAGE for text that is no digest. */
export function requireDigest(plan: Plan, typed: string | undefined, head: VersionId | null): void {
  if (typed === undefined) return;
  if (!/^[0-9a-f]+$/.test(typed) || typed.length < digestCharactersMin) {
    throw usage(
      `--plan ${typed} is not a digest: expected ${digestCharactersMin} to 64 of 0-9 and a-f`,
    );
  }
  if (plan.digest.startsWith(typed)) return;
  throw new CodedError(
    'PLAN_STALE',
    `the plan is now ${plan.digest}, not ${typed}: the head or the staged changes of ${plan.ring} have changed`,
    {
      hint: `ring-builder plan ${plan.ring}; ring-builder log ${plan.ring} shows what happened`,
      details: { ring: plan.ring, given: typed, found: plan.digest, head },
    },
  );
}

/** Returns the options that a commit of the reviewed plan needs. */
export function commitOptions(
  { digest }: Plan,
  guard: ChangeGuard | null,
  lacking: readonly LackingRoom[],
): string {
  const reason = guard !== null && !guard.secondSignature ? ' --override REASON' : '';
  const overfill = lacking.length > 0 ? ' --overfill REASON' : '';
  return `-m TEXT --plan ${digest.slice(0, digestCharactersMin)}${reason}${overfill}`;
}

/** Options of commit and revert: which plan is meant, and reasons to pass its checks. */
export const reviewedPlanOptions = {
  plan: textOption('digest of the plan that you reviewed'),
  override: textOption('reason for a large change; logged, and replaces a second signature'),
  overfill: textOption('reason to commit although disks lack space for the moves; logged'),
};

export const replicasAtOnceOption = textOption(
  'refuse the plan if more replicas of one partition move at once; only removals move two',
);

/** Throws TOO_MANY_AT_ONCE with the partitions of which more than `most` slots move. */
export function requireReplicasAtOnce(plan: Plan, most: number | undefined): void {
  if (most === undefined) return;
  const counts = new Map<number, number>();
  for (const { partition } of plan.moves) counts.set(partition, (counts.get(partition) ?? 0) + 1);
  const excess = [...counts].filter(([, count]) => count > most).map(([partition]) => partition);
  if (excess.length === 0) return;
  const shown = excess.slice(0, PARTITIONS_SHOWN_MAX);
  throw new CodedError(
    'TOO_MANY_AT_ONCE',
    `more than ${counted(most, 'replica')} of ${counted(excess.length, 'partition')} would move at once: ${shown.join(' ')}`,
    {
      hint: `remove fewer devices in one version, or drain them: ring-builder set-weight ${plan.ring} dN 0`,
      details: { ring: plan.ring, most, partitions: excess.length, first: shown },
    },
  );
}

/**
 * Returns planned partitions that an operator forced before, for a commit with a reason. Without
 * one, throws RECEIPTS_MISSING: look first for what they may have lost.
 */
export function requireProved(
  plan: Plan,
  entries: readonly LogEntry[],
  reason: string | null,
): number[] {
  const unproved = unprovedPartitions(entries);
  const moving = [...new Set(allMoves(plan).map(({ partition }) => partition))];
  const found = moving.filter((partition) => unproved.has(partition));
  const [first] = found;
  if (first === undefined || reason !== null) return found;
  const shown = found.slice(0, PARTITIONS_SHOWN_MAX).join(' ');
  const message = `partitions ${shown} of ${plan.ring} were forced`;
  throw new CodedError('RECEIPTS_MISSING', `${message}: ${unproved.get(first)}`, {
    hint: `ring-builder reconcile ${plan.ring} shows what they lost; then add --unproved REASON`,
    details: { ring: plan.ring, partitions: found },
  });
}
