// Checks that the servers of a ring can read the file of the next version. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';
import { ringFormat } from '@ringwright/ring/file/ring-file';
import { readsRingFormat } from '@ringwright/wire/ring-formats';
import { wireVersion } from '@ringwright/wire/wire-version';
import { wireVersionOf } from '../servers/older-servers.ts';
import { ringOf } from './commit-plan.ts';
import type { ReportedSizes } from './known-sizes.ts';
import type { PreparedPlan } from './prepare-plan.ts';

/**
 * Throws SERVERS_OLDER if the version is the first that some server cannot read, or if a joining
 * server cannot read it. The other servers would advance without it, and could not answer requests
 * together with it until it is upgraded. Servers that did not answer are not judged.
 */
export function requireReaders(prepared: PreparedPlan, sizes: ReportedSizes | null): void {
  const { head, changed, plan } = prepared;
  if (head === null || sizes === null || !changed) return;
  const serverVersions = [...sizes.statuses].map(([address, status]) => ({
    address,
    version: wireVersionOf(status),
  }));
  const older = serverVersions.filter(({ version }) => version < wireVersion);
  if (older.length === 0) return;
  const [format, before] = [ringFormat(ringOf(prepared)), ringFormat(head.ring)];
  const present = new Set(head.ring.devices.flatMap((one) => (one ? [formatAddress(one)] : [])));
  const excluded = older.filter(
    ({ address, version }) =>
      !readsRingFormat(version, format) &&
      // A server that cannot read the head either may have to leave by this very version.
      (readsRingFormat(version, before) || !present.has(address)),
  );
  if (excluded.length === 0) return;
  const addresses = excluded.map(({ address }) => address);
  const servers = counted(addresses.length, 'server runs', 'servers run');
  const cannot = `an older release, which cannot read such a version (ring format ${format})`;
  throw new CodedError('SERVERS_OLDER', `${servers} ${cannot}: ${addresses.join(', ')}`, {
    hint:
      'restart them with this release, on their data, and repeat this command; ' +
      'with --yes the others continue without them, and requests may fail until then',
    details: { ring: plan.ring, format, addresses },
  });
}
