// A bug that somebody might make: the checker is worth something only as long as it finds it. Pure.
import type { Nemesis } from '../nemesis.ts';
import type { SourcePatch } from '../source-patches.ts';

export interface SeededBug extends SourcePatch {
  readonly name: string;
  /** What goes wrong, in a sentence. */
  readonly about: string;
  /** Faults that bring it to light. */
  readonly nemeses: readonly Nemesis[];
  /** Of a bug that is in several places. */
  readonly also?: readonly SourcePatch[];
}

/** Nothing but text: servers get it in their environment. */
export function patchesOf(bug: SeededBug): SourcePatch[] {
  return [bug, ...(bug.also ?? [])].map(({ file, find, replace }) => ({ file, find, replace }));
}
