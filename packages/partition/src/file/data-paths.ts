// The paths in a data directory, made of validated names and integers. Pure.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { partitionCountMax } from '@ringwright/base/limits';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';

const INCARNATION = /^[A-Za-z0-9_-]{1,64}$/;

/** A partition of a keyspace, whether this device holds it or not. */
export interface PartitionRef {
  readonly keyspace: string;
  readonly partition: number;
}

/** Key of a partition in maps and mutexes. */
export function partitionName({ keyspace, partition }: PartitionRef): string {
  return `${keyspace}/${partition}`;
}

export const dataPaths = {
  lock: (root: string): string => join(root, 'lock.db'),
  log: (root: string): string => join(root, 'log'),
  logInUse: (root: string): string => join(root, 'log-in-use'),
  partitions: (root: string): string => join(root, 'partitions'),
  checkpoints: (root: string): string => join(root, 'checkpoints'),
  emptyPartitions: (root: string): string => join(root, 'empty-partitions'),
  staging: (root: string): string => join(root, 'staging'),
  trash: (root: string): string => join(root, 'trash'),
  partition: (root: string, keyspace: string, partition: number): string =>
    join(root, 'partitions', keyspace, String(partition)),
  /** The file of a partition. */
  file: (root: string, ref: PartitionRef & { readonly incarnation: string }): string =>
    join(root, 'partitions', ref.keyspace, String(ref.partition), ref.incarnation, 'data.db'),
};

/** Throws NAME_INVALID or VALUE_OUT_OF_RANGE, because both values become folder names. */
export function checkPartitionName(keyspace: string, partition: number): void {
  if (!keyspaceNamePattern.test(keyspace)) {
    throw new CodedError('NAME_INVALID', `keyspace ${JSON.stringify(keyspace.slice(0, 80))}`, {
      hint: 'a keyspace is 1 to 63 of a-z, 0-9 and -, not starting with -',
    });
  }
  if (!Number.isInteger(partition) || partition < 0 || partition >= partitionCountMax) {
    throw new CodedError(
      'VALUE_OUT_OF_RANGE',
      `partition ${partition} is not in 0 to ${partitionCountMax - 1}`,
    );
  }
}

export function isIncarnation(text: string): boolean {
  return INCARNATION.test(text);
}

export function isKeyspace(text: string): boolean {
  return keyspaceNamePattern.test(text);
}
