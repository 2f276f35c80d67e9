// What a server that is no device of a ring may ask of its devices, where the ring names the keys
// of all of them: a gateway, or a server that was removed and gives up its files.
import { type Need, role } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import type { messageKinds } from '@ringwright/wire/messages';
import type { Guard } from '../access/guard.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { ownCaller } from './device-caller.ts';
import type { ProvenPeers } from './proven-peers.ts';

type Name = keyof typeof messageKinds;

/** It shows that others have what it holds, and gives them what they lack. */
const givingUp: ReadonlySet<Name> = new Set<Name>(['digests', 'tail', 'offer', 'push']);

/** It answers requests of others, out of records that devices hold. */
const coordinating: ReadonlySet<Name> = new Set<Name>([
  ...(['recordWrite', 'recordsWrite', 'recordRead', 'recordStamp', 'recordPrepare'] as const),
  ...(['keysAfter', 'pageRead'] as const),
]);

/** What it must have been granted by a token or a certificate; null: only devices may ask this. */
export function needsOfOutsider(name: Name, keyspace: string): readonly Need[] | null {
  if (givingUp.has(name)) return needsToGiveUp(keyspace);
  return coordinating.has(name) ? needsOfGateway(keyspace) : null;
}

/** Records that it gives are taken as those of a device are. */
function needsToGiveUp(keyspace: string): readonly Need[] {
  return [role('peer'), { kind: 'data', role: 'write', keyspace, key: null }];
}

/** Whatever a gateway is asked for: to answer a read it may have to write. */
export function needsOfGateway(keyspace: string): readonly Need[] {
  return [...needsToGiveUp(keyspace), { kind: 'data', role: 'read', keyspace, key: null }];
}

export interface OutsiderPorts {
  readonly guard: Pick<Guard, 'isGranted'>;
  readonly proven: Pick<ProvenPeers, 'isClosed'>;
}

/** Whether devices of a ring that does not name this server take requests of others from it. */
export function isHeardAsGateway(ports: OutsiderPorts, active: ActiveRing): boolean {
  return isHeard(ports, active, needsOfGateway(active.ring.keyspace));
}

/** Throws CALLER_UNPROVEN where the devices of a ring would not take what this server gives up. */
export function requireHeard(ports: OutsiderPorts, active: ActiveRing): void {
  const { keyspace, version } = active.ring;
  if (isHeard(ports, active, needsToGiveUp(keyspace))) return;
  const unnamed = `${keyspace} ${version} names keys of its devices, and none is of this server`;
  // The tool tells of many servers in a line each, and shows no hint there.
  const ways =
    `start it with --token-file FILE, of access grant NAME --peer --write ${keyspace} ` +
    `--out FILE; or ring-builder add ${keyspace} r1z1-IP:PORT/DEVICE 0 --ask-key, commit and rollout`;
  throw new CodedError('CALLER_UNPROVEN', `${unnamed}: they take no record of it; ${ways}`, {
    details: { keyspace, version },
  });
}

function isHeard({ guard, proven }: OutsiderPorts, active: ActiveRing, needs: readonly Need[]) {
  return active.self !== null || !proven.isClosed(active.ring) || guard.isGranted(ownCaller, needs);
}
