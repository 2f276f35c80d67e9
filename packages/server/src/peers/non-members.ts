// What a server outside a ring may ask of the ring's devices when the ring names the keys of all of
// them. Such a server is a gateway, or was removed and gives up its files.
import { type Need, role } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import type { messageKinds } from '@ringwright/wire/messages';
import type { Guard } from '../access/guard.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { ownCaller } from './device-caller.ts';
import type { ProvenPeers } from './proven-peers.ts';

type Name = keyof typeof messageKinds;

/**
 * Messages that show that other devices have what this server holds, or give them what they lack.
 */
const handoverMessages: ReadonlySet<Name> = new Set<Name>(['digests', 'tail', 'offer', 'push']);

/** Messages by which the server answers clients from records that devices hold. */
const coordinationMessages: ReadonlySet<Name> = new Set<Name>([
  ...(['recordWrite', 'recordsWrite', 'recordRead', 'recordStamp', 'recordPrepare'] as const),
  ...(['keysAfter', 'pageRead'] as const),
]);

/**
 * The permissions that a token or a certificate must grant for the message; null: only devices may
 * send it.
 */
export function needsOfNonMember(name: Name, keyspace: string): readonly Need[] | null {
  if (handoverMessages.has(name)) return needsToGiveUp(keyspace);
  return coordinationMessages.has(name) ? needsOfGateway(keyspace) : null;
}

/** Records from such a server are accepted like those of a device. */
function needsToGiveUp(keyspace: string): readonly Need[] {
  return [role('peer'), { kind: 'data', role: 'write', keyspace, key: null }];
}

/** A gateway needs all of these for any request: to answer a read it may have to write. */
export function needsOfGateway(keyspace: string): readonly Need[] {
  return [...needsToGiveUp(keyspace), { kind: 'data', role: 'read', keyspace, key: null }];
}

export interface NonMemberPorts {
  readonly guard: Pick<Guard, 'isGranted'>;
  readonly proven: Pick<ProvenPeers, 'isMembersOnly'>;
}

/** Whether the devices of a ring that does not name this server accept its requests for clients. */
export function isGatewayAccepted(ports: NonMemberPorts, active: ActiveRing): boolean {
  return isAccepted(ports, active, needsOfGateway(active.ring.keyspace));
}

/**
 * Throws CALLER_UNPROVEN if the devices of a ring would not take the records that this server gives
 * up.
 */
export function requireHandoverAccepted(ports: NonMemberPorts, active: ActiveRing): void {
  const { keyspace, version } = active.ring;
  if (isAccepted(ports, active, needsToGiveUp(keyspace))) return;
  const unnamed = `${keyspace} ${version} names keys of its devices, but none of this server`;
  // The tool lists many servers, one line each, and shows no hint there.
  const remedy =
    `start it with --token-file FILE, of access grant NAME --peer --write ${keyspace} ` +
    `--out FILE; or ring-builder add ${keyspace} r1z1-IP:PORT/DEVICE 0 --ask-key, commit and rollout`;
  throw new CodedError('CALLER_UNPROVEN', `${unnamed}: they accept no records from it; ${remedy}`, {
    details: { keyspace, version },
  });
}

function isAccepted({ guard, proven }: NonMemberPorts, active: ActiveRing, needs: readonly Need[]) {
  return (
    active.self !== null || !proven.isMembersOnly(active.ring) || guard.isGranted(ownCaller, needs)
  );
}
