// Logs at the start of a server whom it trusts.
import type { Logger } from 'pino';
import type { ActiveRing } from './rings/active-ring.ts';
import { trustStatus } from './status/status.ts';
import type { TrustStore } from './trust/trust-store.ts';

/** `active`: the rings loaded from disk. */
export function tellTrust(trust: TrustStore, active: readonly ActiveRing[], log: Logger): void {
  const roots = trustStatus({ trust, nowMs: () => Date.now() });
  if (roots === null) {
    log.warn('UNSIGNED rings are accepted from whoever reaches this port: --trust changes that');
    return;
  }
  if (roots.length === 0) {
    log.warn('only the id of a root is known: no ring is accepted before its document was pushed');
  }
  for (const root of roots) {
    const hasEnded = Date.parse(root.expires) <= Date.now();
    if (hasEnded)
      log.error(root, 'the root of trust has ended: no ring is taken until it is renewed');
    else if (root.expiresSoon) log.warn(root, 'the root of trust expires soon: renew it');
    else log.info(root, 'only rings signed under this root are accepted');
  }
  for (const { ring, signing } of active) {
    if (signing !== null && signing !== undefined) continue;
    const about = { ring: ring.keyspace, version: ring.version };
    log.warn(
      about,
      'this ring is UNSIGNED: it is served as before, its next version must be signed',
    );
  }
}
