// Stages changes: remembers what the next commit is to change. Nothing moves yet.

import { CodedError } from '@ringwright/base/coded-error';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change, Staged } from '@ringwright/builder/state/change';
import { requireNotComposed } from '@ringwright/builder/state/composition';
import { sameState } from '@ringwright/builder/state/state-json';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import { replaceDurably } from '@ringwright/node/durable-files';
import { printBuilderFile, stagedState } from './folder/builder-file.ts';
import { type Replayed, replayStaged } from './replay-staged.ts';
import type { Author } from './write-ring.ts';
import { writeRing } from './write-ring.ts';

interface StageResult {
  /** The changes staged by this command; none if the state is already as requested. */
  readonly changes: readonly Change[];
  /** Everything that is staged now. */
  readonly staged: readonly Staged[];
  /** The state with all staged changes, and the state before this command. */
  readonly state: BuilderState;
  readonly before: BuilderState;
}

/**
 * Stages the changes that `changesOf` makes of the state with all earlier staged changes, all or
 * none. Throws what applyChanges throws, PART_POWER_INCREASING, LOCK_HELD, RING_UNKNOWN;
 * builder.json is then unchanged.
 */
export async function stage(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  request: {
    readonly command: string;
    readonly changesOf: (state: BuilderState) => readonly Change[];
  },
): Promise<StageResult> {
  return writeRing(location, author, async ({ folder, file }) => {
    const before = stagedState(file);
    const changes = request.changesOf(before);
    const state = applyChanges(before, changes);
    // Operators and scripts may repeat a command. A repetition stages nothing.
    if (sameState(before, state)) {
      return { changes: [], staged: file.staged, state, before };
    }
    requireNotComposed(file.state);
    requireSteadyPower(file.state);
    const { user, time } = author;
    const staged = [...file.staged, { command: request.command, user, time, changes }];
    await replaceDurably(folder.builder, printBuilderFile({ ...file, staged }));
    return { changes, staged, state, before };
  });
}

/**
 * Drops staged commands and returns them: those with these numbers, counted from 1 as in
 * `stagedCommands`, or all. Later commands keep their effect, with other device ids if a dropped
 * one added a device. Settings from the creation of a ring stay. Throws USAGE for an unknown
 * number, STAGED_NEEDED if a later command does not fit without them, LOCK_HELD.
 */
export async function unstage(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  numbers: readonly number[] | 'all',
): Promise<readonly Staged[]> {
  return writeRing(location, author, async ({ folder, file }) => {
    const listed = stagedCommands(file.staged);
    const dropped = numbers === 'all' ? listed : numbers.map((at) => commandAt(listed, at));
    if (dropped.length === 0) return [];
    const indexes = new Set(dropped.map((one) => file.staged.indexOf(one)));
    const states = { from: file.state, onto: file.state };
    const { staged, refused } = replayStaged(file.staged, states, indexes);
    if (refused.length > 0) throw needed(location.ring, refused);
    await replaceDurably(folder.builder, printBuilderFile({ ...file, staged }));
    return dropped;
  });
}

/**
 * Returns staged commands in order, without the one that created the ring, which has no changes.
 */
export function stagedCommands(staged: readonly Staged[]): readonly Staged[] {
  return staged.filter(({ changes }) => changes.length > 0);
}

function commandAt(listed: readonly Staged[], number: number): Staged {
  const found = listed[number - 1];
  if (found !== undefined) return found;
  const range = listed.length === 0 ? 'nothing is staged' : `there are 1 to ${listed.length}`;
  throw new CodedError('USAGE', `no staged command has number ${number}: ${range}`, {
    hint: 'ring-builder status RING lists what is staged, by number',
    details: { number, staged: listed.length },
  });
}

function needed(ring: string, refused: Replayed['refused']): CodedError {
  const [first] = refused;
  const message = `without it, another change would not fit: ${first?.command}: ${first?.reason}`;
  return new CodedError('STAGED_NEEDED', message, {
    hint: `discard those commands too: ring-builder status ${ring} lists them by number`,
    details: { ring, refused },
  });
}
