// What to type when a commit has nothing to do: what is staged in vain would wait for ever. Pure.
import { counted } from '@ringwright/base/counted';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import type { OpenedRing } from '@ringwright/repository/open-ring';

interface Idle {
  readonly lines: readonly string[];
  /** Without `ring-builder`. */
  readonly next: string;
}

/** Changes that undo each other are in vain: a weight that was set, and set back. */
export function whenIdle({ ring, staged }: Pick<OpenedRing, 'ring' | 'staged'>): Idle {
  const changes = stagedChanges(staged).length;
  if (changes === 0) return { lines: [], next: `status ${ring}` };
  const lines = [`${counted(changes, 'staged change')}: together they change nothing`];
  return { lines, next: `unstage ${ring}` };
}
