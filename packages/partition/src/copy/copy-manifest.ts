// What a source says about a copied file; the receiver believes none of it unchecked. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { partitionFileBytesMax } from '@ringwright/base/limits-store';
import { isKeyedChecksum } from '../audit/keyed-checksum.ts';
import { checkPartitionName, isIncarnation } from '../file/data-paths.ts';
import { parseDigest } from '../file/digest.ts';

export interface CopyManifest {
  readonly keyspace: string;
  readonly partition: number;
  /** Whose sequence numbers `seq` counts. */
  readonly sourceIncarnation: string;
  /** The copy holds everything up to this sequence: read inside the copied file. */
  readonly seq: number;
  /** Length of the file. */
  readonly bytes: number;
  /** Of the file: keyed-checksum.ts. */
  readonly seal: string;
  readonly rows: number;
  readonly tombstones: number;
  /** Content digest, as in PartitionInfo. */
  readonly digest: string;
}

/** Throws COPY_INVALID for a manifest that no snapshot can have. */
export function checkManifest(manifest: CopyManifest): void {
  const wrong = (what: string): CodedError =>
    new CodedError('COPY_INVALID', `manifest of a copy: ${what}`, { hint: 'ask the source again' });
  checkPartitionName(manifest.keyspace, manifest.partition);
  if (!isIncarnation(manifest.sourceIncarnation)) throw wrong('its source incarnation is no id');
  if (!isKeyedChecksum(manifest.seal)) throw wrong('its keyed checksum is not 64 hex digits');
  if (parseDigest(manifest.digest) === null) throw wrong('its digest is not 16 hex digits');
  for (const name of ['seq', 'bytes', 'rows', 'tombstones'] as const) {
    const value = manifest[name];
    if (!Number.isSafeInteger(value) || value < 0) throw wrong(`${name} is ${value}`);
  }
  if (manifest.bytes === 0 || manifest.bytes > partitionFileBytesMax) {
    throw wrong(`${manifest.bytes} bytes, allowed are 1 to ${partitionFileBytesMax}`);
  }
}
