// Where two lines of a ring part, as far as two places on them tell. Pure.
import type { VersionId } from './ring-candidate.ts';

export interface LinePlace extends VersionId {
  /** Id of the version before; undefined: not known. */
  readonly parent?: string | null | undefined;
}

/** The version that two lines hold differently: its id on the line here, and on the other. */
export interface ForkPoint extends VersionId {
  readonly other: string;
}

/** Null: as far as they tell, they are of one line. */
export function forkPointOf(mine: LinePlace, theirs: LinePlace): ForkPoint | null {
  const [id, other] = idsOfLower(mine, theirs);
  if (!id || !other || id === other) return null;
  return { version: Math.min(mine.version, theirs.version), id, other };
}

/** What each line has as the lower version of the two; nothing where they lie further apart. */
function idsOfLower(mine: LinePlace, theirs: LinePlace): (string | null | undefined)[] {
  if (mine.version === theirs.version) return [mine.id, theirs.id];
  if (mine.version + 1 === theirs.version) return [mine.id, theirs.parent];
  return mine.version === theirs.version + 1 ? [mine.parent, theirs.id] : [];
}
