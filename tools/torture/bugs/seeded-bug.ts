// A bug that somebody might make: the checker is worth something only as long as it finds it. Pure.
import type { Nemesis } from '../nemesis.ts';
import type { SourcePatch } from '../source-patches.ts';

export interface SeededBug {
  readonly name: string;
  /** What goes wrong, in a sentence. */
  readonly about: string;
  readonly patches: readonly SourcePatch[];
  /** Faults that bring it to light. */
  readonly nemeses: readonly Nemesis[];
}
