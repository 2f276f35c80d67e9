// Finds partitions with canceled moves that no commit has planned again. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { Plan } from '@ringwright/builder/plan/plan';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { z } from 'zod';

const PARTITIONS_SHOWN_MAX = 10;

/** Returns those since the last commit, ascending. */
export function cancelledSince(entries: readonly LogEntry[]): number[] {
  const since = entries.slice(entries.findLastIndex(({ kind }) => kind === 'commit') + 1);
  const lists = since.map(({ details }) => z.array(z.int()).safeParse(details['cancelled']));
  return [...new Set(lists.flatMap(({ data }) => data ?? []))].sort((a, b) => a - b);
}

/** Warns that a plan moves partitions again whose moves were canceled. */
export function cancelledFindings(plan: Plan, entries: readonly LogEntry[]): Finding[] {
  const cancelled = new Set(cancelledSince(entries));
  const moves = [plan.moves, ...plan.later].flat();
  const partitions = [...new Set(moves.map(({ partition }) => partition))].filter((partition) =>
    cancelled.has(partition),
  );
  if (partitions.length === 0) return [];
  const which = printPartitions(partitions);
  const message = `moves of ${which} were canceled, and a commit would start them again`;
  return [{ code: 'CANCELLED_BEFORE', message, details: { partitions } }];
}

export function printPartitions(partitions: readonly number[]): string {
  const shown = partitions.slice(0, PARTITIONS_SHOWN_MAX).join(' ');
  const hidden = partitions.length - PARTITIONS_SHOWN_MAX;
  const name = partitions.length === 1 ? 'partition' : 'partitions';
  return `${name} ${shown}${hidden > 0 ? ` and ${hidden} more` : ''}`;
}
