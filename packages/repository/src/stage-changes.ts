// Staging: remembers what the next commit shall change. Nothing moves yet.
import { applyChanges } from '@ringwright/builder/apply-changes';
import type { BuilderState } from '@ringwright/builder/builder-state';
import type { Change } from '@ringwright/builder/change';
import { requireSteadyPower } from '@ringwright/builder/steady-power';
import { printBuilderFile, type Staged, stagedChanges } from './builder-file.ts';
import { replaceDurably } from './durable-file.ts';
import type { Author } from './write-ring.ts';
import { writeRing } from './write-ring.ts';

export interface StageResult {
  /** What this command staged. */
  readonly changes: readonly Change[];
  /** All that is staged now. */
  readonly staged: readonly Staged[];
  /** The state with everything staged applied. */
  readonly state: BuilderState;
}

/**
 * Stages what `changesOf` makes of the state with all earlier staged changes applied, all or none.
 * Throws what applyChanges throws, PART_POWER_INCREASING, LOCK_HELD, RING_UNKNOWN; then
 * builder.json is as it was.
 */
export async function stage(
  place: { readonly rings: string; readonly ring: string },
  author: Author,
  request: {
    readonly command: string;
    readonly changesOf: (state: BuilderState) => readonly Change[];
  },
): Promise<StageResult> {
  return writeRing(place, author, async ({ folder, file }) => {
    const before = applyChanges(file.state, stagedChanges(file.staged));
    const changes = request.changesOf(before);
    const state = applyChanges(before, changes);
    if (changes.length === 0) return { changes, staged: file.staged, state };
    requireSteadyPower(file.state);
    const staged = [...file.staged, { command: request.command, changes }];
    await replaceDurably(folder.builder, printBuilderFile({ ...file, staged }));
    return { changes, staged, state };
  });
}

/** Forgets all staged changes and returns them. What a new ring was created with stays. */
export async function unstage(
  place: { readonly rings: string; readonly ring: string },
  author: Author,
): Promise<readonly Staged[]> {
  return writeRing(place, author, async ({ folder, file }) => {
    const dropped = file.staged.filter(({ changes }) => changes.length > 0);
    if (dropped.length === 0) return [];
    const staged = file.staged.filter(({ changes }) => changes.length === 0);
    await replaceDurably(folder.builder, printBuilderFile({ ...file, staged }));
    return dropped;
  });
}
