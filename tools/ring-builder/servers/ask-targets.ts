// Asks each server of a ring once for its status of that ring.
import type { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { fanOut } from './fan-out.ts';
import { ringTargets, type Target } from './ring-targets.ts';
import { type RingStatus, ringStatus } from './server-status.ts';

export interface AskedTarget extends Target {
  /** An error if the server cannot be reached or does not have the ring. */
  readonly said: RingStatus | CodedError;
}

export function askTargets({
  ring,
  state,
}: Pick<StoredVersion, 'ring' | 'state'>): Promise<AskedTarget[]> {
  return fanOut(ringTargets(ring, state), async (target) => {
    return { ...target, said: await ringStatus(target.address, ring.keyspace) };
  });
}
