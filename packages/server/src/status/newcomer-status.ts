// What a server tells any caller while it waits for its first ring and its access document: the
// tool compares this with the ring that is about to name the server. There are no records here yet.
import { programVersion } from '@ringwright/base/program-version';
import { formatAddress } from '@ringwright/base/server-address';
import { wireVersion } from '@ringwright/wire/wire-version';
import type { Guard } from '../access/guard.ts';
import { type StatusPorts, trustStatus } from './status.ts';

type NewcomerPorts = Pick<StatusPorts, 'identity' | 'rings' | 'store' | 'trust' | 'nowMs'>;

/**
 * Returns the limited status while nobody can be authenticated. Null: somebody can be, or the
 * server holds something.
 */
export function newcomerStatus(ports: NewcomerPorts, guard: Pick<Guard, 'isPending'>) {
  const { identity, rings, store, nowMs } = ports;
  if (!guard.isPending || rings.list().length > 0 || store.list().length > 0) return null;
  return {
    version: programVersion,
    wireVersion,
    address: formatAddress(identity.address),
    device: identity.name,
    nowMs: nowMs(),
    ready: false,
    rings: [],
    refusals: [],
    trust: trustStatus(ports),
  };
}
