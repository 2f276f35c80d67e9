// Commits a version that carries on a change, without touching staged changes.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { commitVersion, type VersionToCommit } from '@ringwright/repository/commit-version';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../cli/command.ts';
import { ringKey } from './signing.ts';
import { authorOf } from './stage-command.ts';

interface Advance
  extends Partial<Pick<VersionToCommit['entry'], 'moves' | 'figures' | 'details'>>,
    Pick<VersionToCommit, 'commands' | 'later' | 'receipts' | 'override'> {
  readonly next: Ring;
  readonly message: string;
  /** Default: the state of the head. */
  readonly state?: BuilderState;
}

/** Throws RING_FILE_INVALID for a head without builder state, and what commitVersion throws. */
export async function advanceHead(
  context: Context,
  head: StoredVersion,
  { next, message, state, moves = 0, figures = {}, details = {}, ...more }: Advance,
): Promise<VersionId> {
  return commitVersion(context.rings, {
    ...more,
    ring: next,
    state: state ?? stateOf(head),
    entry: { ...authorOf(context), kind: 'advance', message, moves, figures, details },
    expected: { head: { version: head.ring.version, id: head.id } },
    key: await ringKey(context),
  });
}
