// Suggests a command if a commit has nothing to do, so that ineffective staged changes do not wait
// forever. Pure.
import { counted } from '@ringwright/base/counted';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import type { OpenedRing } from '@ringwright/repository/open-ring';

interface Idle {
  readonly lines: readonly string[];
  /** Without `ring-builder`. */
  readonly next: string;
}

/** Detects staged changes that cancel each other out, such as a weight set and set back. */
export function whenIdle({ ring, staged }: Pick<OpenedRing, 'ring' | 'staged'>): Idle {
  const changes = stagedChanges(staged).length;
  if (changes === 0) return { lines: [], next: `status ${ring}` };
  const lines = [`${counted(changes, 'staged change')} that change nothing together`];
  return { lines, next: `unstage ${ring}` };
}
