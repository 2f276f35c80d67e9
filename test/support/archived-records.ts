// Reads all records of an archive made by ring-builder.
import {
  type ArchivedRecord,
  framesOf,
  openArchive,
} from '../../tools/ring-builder/records/record-file.ts';

export type { ArchivedRecord };

/** Throws ARCHIVE_INVALID if the archive is damaged. */
export async function archivedRecords(folder: string): Promise<ArchivedRecord[]> {
  const records: ArchivedRecord[] = [];
  for await (const frame of framesOf(folder, await openArchive(folder))) records.push(...frame);
  return records;
}
