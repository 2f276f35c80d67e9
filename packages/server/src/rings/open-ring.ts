// Decodes and audits a ring file, before a server trusts the ring. Pure.
import type { Finding } from '@ringwright/base/finding';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { type ChangeSize, changeSize } from '@ringwright/ring/audit/large-change';
import { decodeRing, type RingFile } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';

export interface DecodedRing extends Pick<RingFile, 'ring' | 'id' | 'signing'> {
  /** The audit's findings; empty for a ring that may be used. */
  readonly findings: readonly Finding[];
  /** Size of the change from the parent ring; null if the parent is not `previous`. */
  readonly change: ChangeSize | null;
}

/** Throws what decodeRing throws. */
export function openRing(
  bytes: Uint8Array,
  previous: { readonly ring: Ring; readonly id: string } | null,
): DecodedRing {
  const { ring, id, signing } = decodeRing(bytes);
  const findings = auditRing(ring);
  const isNext = findings.length === 0 && previous?.id === ring.parent;
  const change = isNext && previous !== null ? changeSize(previous.ring, ring) : null;
  return { ring, id, signing, findings, change };
}
