// A head with what its folder knows of it, for who judges servers by it.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { type Approval, approvalOf } from '@ringwright/repository/approval';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { lastVersionEntry } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../cli/verb.ts';
import type { Situation } from '../servers/advice.ts';
import { countedTargets, type Target } from '../servers/ring-targets.ts';
import { isOtherLine } from '../versions/other-line.ts';
import { type AccessStanding, accessOf, trustOf } from '../versions/signing.ts';
import { standingOf } from './situation-of.ts';

/** What is judged of a head: rings of millions of partitions are not kept for it. */
export interface JudgedHead extends Situation {
  readonly ring: Situation['ring'] & Pick<Ring, 'partitions'>;
  readonly id: string;
  /** Those whose devices were all removed, and have nothing any more, may be gone. */
  readonly targets: readonly Target[];
  /** Whether a version that a server has is of another history than the head. */
  readonly isOther: (said: VersionId) => boolean;
  /** Null: it is unsigned. */
  readonly epoch: number | null;
  /** Of the folder's trust; null: there is none. */
  readonly root: { readonly cluster: string; readonly version: number } | null;
  readonly access: AccessStanding | null;
  /** Which document of the folder tells nothing, and why; null: both do, or are not there. */
  readonly fault: DocumentFault | null;
  /** Of the head under that trust; null: it tells nothing. */
  readonly signatures: Approval | null;
  /** Unix ms at which it was committed. */
  readonly committedMs: number;
}

export interface DocumentFault {
  readonly file: 'trust.json' | 'access.json';
  readonly error: CodedError;
}

/** A document that nobody can read is trouble of its own: what servers say is told all the same. */
export async function judgedHead(
  context: Context,
  stored: StoredVersion,
  entries: readonly LogEntry[],
): Promise<JudgedHead> {
  const { ring, id, state, signing } = stored;
  const { keyspace, version, devices, moves, partitions, replicas, table } = ring;
  const found = await trustOf(context).catch(codedOrDisk);
  const trust = found instanceof CodedError ? null : found;
  const access = await accessOf(context, trust).catch(codedOrDisk);
  const { time } = must(lastVersionEntry(entries), 'a head has its entry');
  return {
    ring: { keyspace, version, devices, moves, partitions, replicas, table },
    id,
    targets: countedTargets(ring, state),
    isOther: (said) => isOtherLine(entries, said),
    epoch: signing?.epoch ?? null,
    root: trust?.root ?? null,
    access: access instanceof CodedError ? null : access,
    fault: faultOf('trust.json', found) ?? faultOf('access.json', access),
    signatures: found instanceof CodedError ? null : approvalOf(stored, trust),
    committedMs: Date.parse(time),
    ...standingOf(stored, entries, found !== null),
  };
}

function faultOf(file: DocumentFault['file'], read: object | null): DocumentFault | null {
  return read instanceof CodedError ? { file, error: read } : null;
}
