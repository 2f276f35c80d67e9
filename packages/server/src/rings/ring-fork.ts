// What is remembered of two lines of one ring. Pure.
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

/** Whether the operator's word has covered a fork at this version: it raises no alarm any more. */
export function isCovered(fork: RingFork, version: number): boolean {
  return fork.settled === null || version <= fork.settled.version;
}
