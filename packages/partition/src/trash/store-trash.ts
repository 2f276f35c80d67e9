// The trash of one store: lists, trims and restores dropped partitions.
import { existsSync } from 'node:fs';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import type { TrashLimits } from './choose-trash.ts';
import { restoreTrash } from './restore-trash.ts';
import { listTrash, trashedFile, trimTrash } from './trash.ts';

export function storeTrash(parts: StoreParts) {
  const { root, disk } = parts;
  return {
    /** Restorable partitions, oldest first; a folder without data.db is not listed. */
    list: async () => (await listTrash(root)).filter((item) => existsSync(trashedFile(root, item))),
    /**
     * Deletes what exceeds the limits, and more if the disk is full. Resolves to what was deleted.
     */
    trim: async (limits: Omit<TrashLimits, 'bytesNeeded'>) => {
      checkOpen(parts);
      return trimTrash(root, { ...limits, bytesNeeded: await disk.lackingBytes() });
    },
    /** Restores a dropped partition as a filling one: see restore-trash.ts. */
    restore: async (name: string) => {
      checkOpen(parts);
      return restoreTrash(parts, name);
    },
  };
}
