// The trash of one store: what is in it, what must go, and what shall come back.
import { existsSync } from 'node:fs';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import type { TrashLimits } from './choose-trash.ts';
import { restoreTrash } from './restore-trash.ts';
import { listTrash, trashedFile, trimTrash } from './trash.ts';

export function storeTrash(parts: StoreParts) {
  const { root, disk } = parts;
  return {
    /** Dropped partitions that can come back, the oldest first: folders that lost data.db cannot. */
    list: async () => (await listTrash(root)).filter((item) => existsSync(trashedFile(root, item))),
    /** Deletes what is over the limits, and more while the disk is full; resolves to what is gone. */
    trim: async (limits: Omit<TrashLimits, 'bytesNeeded'>) => {
      checkOpen(parts);
      return trimTrash(root, { ...limits, bytesNeeded: await disk.lackingBytes() });
    },
    /** A dropped partition comes back as a filling one: restore-trash.ts says what that means. */
    restore: async (name: string) => {
      checkOpen(parts);
      return restoreTrash(parts, name);
    },
  };
}
