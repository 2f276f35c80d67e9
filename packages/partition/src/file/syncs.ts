// The syncs of files and folders; tests replace them to delay one or make it fail.
import { fdatasync, fdatasyncSync } from 'node:fs';
import { promisify } from 'node:util';
import { syncDirectory } from '@ringwright/node/durable-files';

/** fdatasync in the thread pool and on this thread, and fsync of a folder. */
export const syncsOfSystem = {
  inPool: promisify(fdatasync),
  blocking: fdatasyncSync,
  folder: syncDirectory,
};
