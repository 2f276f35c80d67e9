// A realistic bug: the checker is useful only as long as it finds the seeded bugs. Pure.
import type { Nemesis } from '../nemesis.ts';
import type { SourcePatch } from '../source-patches.ts';

export interface SeededBug extends SourcePatch {
  readonly name: string;
  /** What goes wrong, in a sentence. */
  readonly about: string;
  /** Faults that reveal it. */
  readonly nemeses: readonly Nemesis[];
  /** Further patches, for a bug in several places. */
  readonly also?: readonly SourcePatch[];
}

/** Returns patches as plain text: servers get them in their environment. */
export function patchesOf(bug: SeededBug): SourcePatch[] {
  return [bug, ...(bug.also ?? [])].map(({ file, find, replace }) => ({ file, find, replace }));
}
