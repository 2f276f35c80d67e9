// Whether the log and the partitions of a data directory are those of its device. Both may be on
// disks of their own, and mounted in place of another device's. Each has a copy of device.json.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { dataPaths } from '@ringwright/partition/file/data-paths';
import { copyIdentity, identityFile, storedIdentity } from './device-identity.ts';

function ownedFolders(directory: string): string[] {
  return [dataPaths.log(directory), dataPaths.partitions(directory)];
}

/**
 * Called before the log is replayed: the records of another device's log belong to no partition
 * here, and would be discarded. A folder without a copy is new, or of an older release. Throws
 * DATA_DIR_OF_ANOTHER_DEVICE, DISK_FAILED.
 */
export async function checkOwnedFolders(directory: string): Promise<void> {
  const own = await storedIdentity(directory);
  for (const folder of ownedFolders(directory)) {
    const owner = await storedIdentity(folder);
    if (own === null || owner === null || owner.born === own.born) continue;
    const whose = owner.device === own.device ? `an earlier '${own.device}'` : `'${owner.device}'`;
    const message = `${folder} belongs to ${whose}, not to '${own.device}' of ${directory}`;
    throw new CodedError('DATA_DIR_OF_ANOTHER_DEVICE', message, {
      hint:
        'mount or move the folders of each device back to its own data directory; ' +
        `${identityFile(folder)} says whose it is`,
      details: { directory, folder, stored: owner.device, given: own.device },
    });
  }
}

/** Called when both folders exist. A full disk does not keep a server from starting. */
export async function markOwnedFolders(directory: string): Promise<void> {
  for (const folder of ownedFolders(directory)) {
    await copyIdentity(directory, folder).catch((error: unknown) => {
      if (!hasCode(error, 'DISK_FULL')) throw error;
    });
  }
}
