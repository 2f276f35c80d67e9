// Explains why a ring names the key of this device but not the device: it listens at another
// address, or runs under another name, than the ring says. Pure.
import type { KeyObject } from 'node:crypto';
import { formatAddress } from '@ringwright/base/server-address';
import { spkiOf } from '@ringwright/ring/trust/public-key';
import type { DeviceIdentity } from '../device/device-identity.ts';
import type { ActiveRing } from './active-ring.ts';

/**
 * Returns null if the ring names this device, or does not know it at all. `key`: the private key of
 * the device.
 */
export function whyUnnamed(
  { ring, self }: Pick<ActiveRing, 'ring' | 'self'>,
  { key, identity }: { readonly key: KeyObject; readonly identity: DeviceIdentity },
): string | null {
  if (self !== null) return null;
  const spki = spkiOf(key);
  const known = ring.devices.find((device) => device !== null && device.key === spki);
  if (known === undefined || known === null) return null;
  const { keyspace, version } = ring;
  const { ip, port } = identity.address;
  const [there, here] = [formatAddress(known), formatAddress(identity.address)];
  const name = identity.name ?? known.device;
  const move = `set-device ${keyspace} d${known.id} --ip ${ip} --port ${port}`;
  return (
    `version ${version} of ring '${keyspace}' has the disk of this server as d${known.id}, ` +
    `${there}/${known.device}, and it was started as ${here}/${name}: start it as the ring says; ` +
    `or, where it moved, ring-builder ${move}, commit and push`
  );
}
