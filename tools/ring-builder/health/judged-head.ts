// A head with what its folder knows of it, for who judges servers by it.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { approvalOf } from '@ringwright/repository/approval';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { lastVersionEntry } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/verb.ts';
import { countedTargets } from '../servers/ring-targets.ts';
import { isOtherLine } from '../versions/other-line.ts';
import { accessOf, trustOf } from '../versions/signing.ts';
import type { DocumentFault, JudgedHead } from './ring-troubles.ts';
import { standingOf } from './situation-of.ts';

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
