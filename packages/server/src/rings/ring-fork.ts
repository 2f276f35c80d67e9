// Two lines of one ring: where they part, and what is remembered of it. Pure.
import { forkReasonCharactersMax } from '@ringwright/base/limits-rings';
import { keyspaceField, ringIdField, versionField } from '@ringwright/wire/fields';
import { z } from 'zod';

const msField = z.int().min(0);

export const ringForkSchema = z.strictObject({
  keyspace: keyspaceField,
  /** The version that exists twice. */
  version: versionField,
  /** Its ring id on this server's line, and on the other. */
  id: ringIdField,
  other: ringIdField,
  /** Who showed the other line: the address of a peer, or empty for a push or a file. */
  from: z.string().max(300),
  atMs: msField,
  /** The operator's word on which ring is right; null: nobody has said. */
  settled: z.nullable(
    z.strictObject({
      version: versionField,
      id: ringIdField,
      reason: z.string().max(forkReasonCharactersMax),
      atMs: msField,
    }),
  ),
});

export type RingFork = z.infer<typeof ringForkSchema>;

export interface LinePlace {
  readonly version: number;
  readonly id: string;
  /** Id of the version before; undefined: not known here. */
  readonly parent?: string | null;
}

/** The version that two places hold differently; null: as far as they tell, they are of one line. */
export function forkOf(
  mine: LinePlace,
  theirs: LinePlace,
): Pick<RingFork, 'version' | 'id' | 'other'> | null {
  const ids =
    mine.version === theirs.version
      ? [mine.id, theirs.id]
      : mine.version + 1 === theirs.version
        ? [mine.id, theirs.parent]
        : mine.version === theirs.version + 1
          ? [mine.parent, theirs.id]
          : [];
  const [id, other] = ids;
  if (!id || !other || id === other) return null;
  return { version: Math.min(mine.version, theirs.version), id, other };
}

/** Whether the operator's word has covered a fork at this version: it raises no alarm any more. */
export function isCovered(fork: RingFork, version: number): boolean {
  return fork.settled === null || version <= fork.settled.version;
}
