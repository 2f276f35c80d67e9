// Checks whether the file of a partition is still the one that was opened.
import { CodedError } from '@ringwright/base/coded-error';
import { dataPaths } from './data-paths.ts';
import { identityOf, whyLost } from './file-identity.ts';
import type { Partition } from './partition.ts';
import { currentFile, currentText, newCurrentText, noteReplaced } from './partition-directory.ts';

/** Says why the file is lost; null when it is intact. Also for a file about to be reopened. */
export function whyPartitionLost(root: string, partition: Partition): string | null {
  const { incarnation, fileIdentities, file, isNew } = partition;
  if (!partition.hasFile) return null;
  const data = dataPaths.file(root, partition);
  const reason = fileIdentities === null ? null : whyLost(data, fileIdentities.data);
  if (reason !== null) return reason;
  const current = currentFile(dataPaths.partition(root, partition.keyspace, partition.partition));
  const currentBytes = identityOf(current)?.bytes;
  if (currentBytes === undefined) return `${current} is gone`;
  const isNamedNew = isNew && currentBytes === newCurrentText(incarnation).length;
  if (currentBytes !== currentText(incarnation).length && !isNamedNew) {
    return `${current} names another file`;
  }
  if (file === null || fileIdentities === null) return null;
  return whyLost(
    `${data}-wal`,
    fileIdentities.wal && { ...fileIdentities.wal, bytes: file.wal.bytesMin() },
  );
}

/**
 * Called when a store ends. The log may lack what the open file had, so a file that took its name
 * would be stale without anything showing it. A missing file the next start notices by itself.
 */
export function noteIfReplaced(root: string, partition: Partition): void {
  const { keyspace, incarnation, fileIdentities } = partition;
  const home = dataPaths.partition(root, keyspace, partition.partition);
  const data = dataPaths.file(root, partition);
  if (
    fileIdentities === null ||
    identityOf(data) === null ||
    whyLost(data, fileIdentities.data) === null
  )
    return;
  if (identityOf(currentFile(home)) !== null) noteReplaced(home, incarnation);
}

export function lostError({ keyspace, partition }: Partition, reason: string): CodedError {
  return new CodedError('PARTITION_DAMAGED', `file of ${keyspace}/${partition}: ${reason}`, {
    hint: 'somebody, or another program, changed the data directory; the partition refills from its other holders',
    details: { keyspace, partition },
  });
}
