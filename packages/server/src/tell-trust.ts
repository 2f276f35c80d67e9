// What a server says at its start about whom it trusts.
import type { Logger } from 'pino';
import { trustStatus } from './status/status.ts';
import type { TrustStore } from './trust/trust-store.ts';

export function tellTrust(trust: TrustStore, log: Logger): void {
  const roots = trustStatus({ trust, nowMs: () => Date.now() });
  if (roots === null) {
    log.warn('UNSIGNED rings are accepted from whoever reaches this port: --trust changes that');
    return;
  }
  if (roots.length === 0) {
    log.warn('only the id of a root is known: no ring is accepted before its document was pushed');
  }
  for (const root of roots) {
    if (root.expiresSoon) log.warn(root, 'the root of trust expires soon: it must be renewed');
    else log.info(root, 'only rings signed under this root are accepted');
  }
}
