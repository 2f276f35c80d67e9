// A head with what its folder knows of it, by which servers are judged.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { type Approval, approvalOf } from '@ringwright/repository/approval';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { lastVersionEntry } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../cli/command.ts';
import type { AdviceContext } from '../servers/advice-rule.ts';
import { countedTargets, type Target } from '../servers/ring-targets.ts';
import { isOtherLine } from '../versions/other-line.ts';
import { type AccessStanding, accessOf, trustOf } from '../versions/signing.ts';
import { standingOf } from './advice-context.ts';

/**
 * The fields of a head by which its servers are judged. The rest of the stored version, such as the
 * bytes of its file, is not kept.
 */
export interface ReferenceHead extends AdviceContext {
  readonly ring: AdviceContext['ring'] & Pick<Ring, 'partitions'>;
  readonly id: string;
  /** Servers to judge. Not required: those whose devices were all removed and hold nothing. */
  readonly targets: readonly Target[];
  /** Whether a server's version belongs to another history than the head. */
  readonly isOther: (head: VersionId) => boolean;
  /** Null: the head is unsigned. */
  readonly epoch: number | null;
  /** Root of the folder's trust; null: none. */
  readonly root: { readonly cluster: string; readonly version: number } | null;
  readonly access: AccessStanding | null;
  /** The unreadable document of the folder; null: both are readable or absent. */
  readonly fault: DocumentFault | null;
  /** The head's signatures by the folder's trust; null: trust.json is unreadable. */
  readonly signatures: Approval | null;
  /** Time of the commit, Unix ms. */
  readonly committedMs: number;
}

export interface DocumentFault {
  readonly file: 'trust.json' | 'access.json';
  readonly error: CodedError;
}

/**
 * Reads the folder's documents. An unreadable one is a trouble of its own and does not hide what
 * servers report.
 */
export async function judgedHead(
  context: Context,
  stored: StoredVersion,
  entries: readonly LogEntry[],
): Promise<ReferenceHead> {
  const { ring, id, state, signing } = stored;
  const { keyspace, version, devices, moves, partitions, replicas, table } = ring;
  const found = await trustOf(context).catch(codedOrDisk);
  const trust = found instanceof CodedError ? null : found;
  const access = await accessOf(context, trust).catch(codedOrDisk);
  const signatures = found instanceof CodedError ? null : approvalOf(stored, trust);
  const isSigned = signatures?.signed ?? signing !== null;
  const { time } = must(lastVersionEntry(entries), 'a head has its entry');
  return {
    ring: { keyspace, version, devices, moves, partitions, replicas, table },
    id,
    targets: countedTargets(ring, state),
    isOther: (head) => isOtherLine(entries, head),
    epoch: signing?.epoch ?? null,
    root: trust?.root ?? null,
    access: access instanceof CodedError ? null : access,
    fault: faultOf('trust.json', found) ?? faultOf('access.json', access),
    signatures,
    committedMs: Date.parse(time),
    ...standingOf(stored, entries, found === null ? null : isSigned),
  };
}

function faultOf(file: DocumentFault['file'], read: object | null): DocumentFault | null {
  return read instanceof CodedError ? { file, error: read } : null;
}
