// Finds where two lines of versions diverge, as far as their known ancestors show. Pure.
import type { VersionId } from './ring-candidate.ts';

/** A version, and what it states about the versions before it. */
export interface LinePosition extends VersionId {
  /** Id of the version before; undefined when not known. */
  readonly parent?: string | null | undefined;
  /** Known ids of the versions before the parent, newest first. */
  readonly ancestors?: readonly string[] | undefined;
}

/** A version that two lines hold differently: its id on this line, and on the other. */
export interface ForkPoint extends VersionId {
  readonly other: string;
}

/** Returns the id of a version on this line; null: there was none; undefined: not known. */
export function ancestorIdAt(line: LinePosition, version: number): string | null | undefined {
  const back = line.version - version;
  if (back === 0) return line.id;
  return back === 1 ? line.parent : line.ancestors?.[back - 2];
}

/** Returns null when nothing shows that the lines differ. */
export function forkPointOf(mine: LinePosition, theirs: LinePosition): ForkPoint | null {
  const version = Math.min(mine.version, theirs.version);
  const [id, other] = [ancestorIdAt(mine, version), ancestorIdAt(theirs, version)];
  return id && other && id !== other ? { version, id, other } : null;
}
