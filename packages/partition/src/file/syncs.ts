// How a file and its folder are made to last; tests hold a sync up, or make it fail.
import { fdatasync, fdatasyncSync } from 'node:fs';
import { promisify } from 'node:util';
import { syncDirectory } from '@ringwright/node/durable-files';

/** fdatasync, in the pool and on this thread, and the sync of a folder. */
export const syncsOfSystem = {
  inPool: promisify(fdatasync),
  here: fdatasyncSync,
  folder: syncDirectory,
};
