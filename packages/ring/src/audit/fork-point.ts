// Where two lines of versions part, as far as they tell. Pure.
import type { VersionId } from './ring-candidate.ts';

/** A version, and what it says of those before it. */
export interface LinePlace extends VersionId {
  /** Id of the version before; undefined: not known. */
  readonly parent?: string | null | undefined;
  /** Ids of the versions before that, newest first, as far as they are known. */
  readonly ancestors?: readonly string[] | undefined;
}

/** The version that two lines hold differently: its id on the line here, and on the other. */
export interface ForkPoint extends VersionId {
  readonly other: string;
}

/** The id of a version on this line; null: there was none; undefined: the line does not say. */
export function idAt(line: LinePlace, version: number): string | null | undefined {
  const back = line.version - version;
  if (back === 0) return line.id;
  return back === 1 ? line.parent : line.ancestors?.[back - 2];
}

/** Null: as far as they tell, they are of one line. */
export function forkPointOf(mine: LinePlace, theirs: LinePlace): ForkPoint | null {
  const version = Math.min(mine.version, theirs.version);
  const [id, other] = [idAt(mine, version), idAt(theirs, version)];
  return id && other && id !== other ? { version, id, other } : null;
}
