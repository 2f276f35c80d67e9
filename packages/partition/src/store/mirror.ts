// The mirror of a split or merge: which writes to a parent also go to a child. Pure data.

/**
 * promises: the child gets promises only, so that it has all of the parent's when it takes records.
 * all: the child gets records too; the older ones are being copied.
 * filled: the child has what the parent has.
 */
export type MirrorPhase = 'promises' | 'all' | 'filled';

export interface Mirror {
  readonly parents: ReadonlySet<number>;
  /** The child that a key of a parent belongs to. */
  readonly childOf: (key: Uint8Array) => number;
  /** Phase of each child that takes part. */
  readonly phases: Map<number, MirrorPhase>;
}
