// Waits until the joiners of moves hold all their partitions.

import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { fanOut } from './fan-out.ts';
import { ringTargets } from './ring-targets.ts';
import { ringStatus } from './server-status.ts';
import type { Context } from './verb.ts';
import { waitUntil } from './wait-until.ts';

export interface LoadTotals {
  readonly available: number;
  readonly copying: number;
  readonly failed: readonly string[];
  readonly bytes: number;
  readonly rows: number;
  readonly copiesVerified: number;
}

/** Throws ROLLOUT_STALLED with what each joiner says when nothing moves for `stallMs`. */
export async function waitForLoads(
  context: Context,
  wanted: { readonly ring: Ring; readonly moves: readonly Move[]; readonly stallMs: number },
): Promise<LoadTotals> {
  const { ring, moves, stallMs } = wanted;
  const joiners = new Set(moves.map(({ to }) => to));
  const targets = ringTargets(ring, null).filter(({ devices }) =>
    devices.some((id) => joiners.has(id)),
  );
  const waiting = await waitUntil({
    ask: () => askJoiners(ring.keyspace, moves, targets),
    isDone: ({ available }) => available === moves.length,
    progressOf: (totals) => progressLine(totals, moves.length),
    stallMs,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  if (waiting.done) return waiting.answer;
  const { available, failed } = waiting.answer;
  const reasons = failed.slice(0, 3).join('; ');
  throw new CodedError(
    'ROLLOUT_STALLED',
    `${available} of ${moves.length} moves are available and nothing has changed for ${stallMs / 1000} s: ${reasons}`,
    {
      hint: `see that the servers run, then type the command again: it goes on where it was`,
      details: { available, moves: moves.length, failed },
    },
  );
}

async function askJoiners(
  keyspace: string,
  moves: readonly Move[],
  targets: readonly { readonly address: string }[],
): Promise<LoadTotals> {
  const open = new Set(moves.map(({ assignment }) => assignment));
  const statuses = await fanOut(targets, ({ address }) => ringStatus(address, keyspace));
  const away = statuses.flatMap((one) => (one instanceof Error ? [one.message] : []));
  const loads = statuses.flatMap((one) => (one instanceof Error ? [] : one.loads));
  const ours = loads.filter(({ assignment }) => assignment !== null && open.has(assignment));
  const inStage = (...stages: string[]) => ours.filter(({ stage }) => stages.includes(stage));
  return {
    available: inStage('available').length,
    copying: inStage('copying', 'catching-up').length,
    failed: [
      ...away,
      ...inStage('failed').map(({ partition, reason }) => `partition ${partition}: ${reason}`),
    ],
    bytes: ours.reduce((sum, { bytes }) => sum + bytes, 0),
    rows: ours.reduce((sum, { rows }) => sum + rows, 0),
    copiesVerified: ours.reduce((sum, one) => sum + one.copiesVerified, 0),
  };
}

function progressLine(totals: LoadTotals, wanted: number): string {
  const { available, copying, failed, bytes } = totals;
  const trouble =
    failed.length === 0 ? '' : `, ${failed.length} in trouble: ${must(failed[0], 'a reason')}`;
  const megabytes = (bytes / 1e6).toFixed(1);
  return `copying: ${available} of ${wanted} partitions available, ${copying} under way, ${megabytes} MB${trouble}`;
}
