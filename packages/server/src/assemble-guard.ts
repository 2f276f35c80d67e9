// The guard of a server: what it asks, and whom it tells of refusals.
import type { Logger } from 'pino';
import { credentialFrom } from './access/credential.ts';
import { Guard } from './access/guard.ts';
import { ownCaller } from './peers/device-caller.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { AccessStore } from './trust/access-store.ts';

export function createGuard(
  { access }: { readonly access: AccessStore },
  around: {
    readonly metrics: Metrics;
    readonly log: Logger;
    readonly isStrict: boolean;
    readonly onChange: () => void;
  },
): Guard {
  const { metrics, log, isStrict, onChange } = around;
  const guard = new Guard({
    access: () => access.current,
    isStrict,
    nowMs: Date.now,
    onUse: () => undefined,
    onRefusal: ({ code, from, token, needs }) => {
      metrics.refusedRequests.inc({ code });
      log.info({ stranger: from, token, code, needs }, 'request refused');
    },
  });
  access.onChange(({ id, document }) => {
    const { version, by, change } = document;
    log.warn({ version, id, by, change }, 'access document in force');
    onChange();
  });
  guard.show(ownCaller, { ...credentialFrom('here', null), isPeer: () => true });
  return guard;
}
