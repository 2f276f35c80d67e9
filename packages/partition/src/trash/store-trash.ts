// The trash of one store: what is in it, what must go, and what shall come back.
import { existsSync } from 'node:fs';
import type { PartitionInfo } from '../file/partition-info.ts';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import type { TrashLimits } from './choose-trash.ts';
import { restoreTrash } from './restore-trash.ts';
import { listTrash, type TrashItem, trashedFile, trimTrash } from './trash.ts';

export interface StoreTrash {
  /** Dropped partitions that can come back, the oldest first: folders that lost data.db cannot. */
  readonly list: () => Promise<TrashItem[]>;
  /** Deletes what is over the limits, and more while the disk is full; resolves to what is gone. */
  readonly trim: (limits: Omit<TrashLimits, 'bytesNeeded'>) => Promise<TrashItem[]>;
  /** A dropped partition comes back as a filling one: restore-trash.ts says what that means. */
  readonly restore: (name: string) => Promise<PartitionInfo>;
}

export function storeTrash(parts: StoreParts): StoreTrash {
  const { root, disk } = parts;
  return {
    list: async () => (await listTrash(root)).filter((item) => existsSync(trashedFile(root, item))),
    trim: async (limits) => {
      checkOpen(parts);
      return trimTrash(root, { ...limits, bytesNeeded: await disk.lackingBytes() });
    },
    restore: async (name) => {
      checkOpen(parts);
      return restoreTrash(parts, name);
    },
  };
}
