// Builds the guard of a server: where it looks up grants, and where it reports refusals.

import { parseToken } from '@ringwright/access/token';
import { repeatedLineMsMin } from '@ringwright/base/limits';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import type { Logger } from 'pino';
import { credentialFrom } from './access/credential.ts';
import { Guard } from './access/guard.ts';
import { repetitionKey } from './access/refusal.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { ClientCertificates } from './client-certificates.ts';
import { ownCaller } from './peers/device-caller.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { RepeatedLines } from './telemetry/repeated-lines.ts';
import type { AccessStore } from './trust/access-store.ts';

export function createGuard(
  { access, audit }: { readonly access: AccessStore; readonly audit: AuditLog },
  parts: {
    readonly metrics: Metrics;
    readonly log: Logger;
    /** The token that this server shows to other servers. */
    readonly token: string | null;
    readonly isStrict: boolean;
    readonly operatorListen: string | null;
    readonly certificates: ClientCertificates;
    readonly onChange: () => void;
  },
): Guard {
  const { metrics, log, token: ownToken, isStrict, operatorListen, certificates, onChange } = parts;
  // Equal refusals are logged once, then as a count of repetitions.
  const repeats = new RepeatedLines(monotonicMs);
  setInterval(() => repeats.tell(), repeatedLineMsMin / 2).unref();
  const guard = new Guard({
    access: () => access.current,
    isStrict,
    operatorListen,
    certified: (socket) => certificates.shownOn(socket),
    nowMs,
    onRefusal: (refusal) => {
      const { code, from, token, needs } = refusal;
      metrics.refusedRequests.inc({ code });
      repeats.offer(repetitionKey(refusal), (repeated) => {
        const times = repeated === 0 ? '' : ` (${repeated} more)`;
        const who = `${token ?? 'nobody'} at ${from}`;
        audit.note({ kind: 'refused', who, what: `${code}: needs ${needs}${times}` });
        const fields = { stranger: from, token, code, needs, ...(repeated > 0 && { repeated }) };
        log.info(fields, 'request refused');
      });
    },
  });
  access.onChange(({ id, document }) => {
    const { version, by, change } = document;
    audit.note({ kind: 'access', who: by, what: `${version}, ${id.slice(0, 12)}: ${change}` });
    log.warn({ version, id, by, change }, 'access document in force');
    onChange();
  });
  const parsedToken = ownToken === null ? null : parseToken(ownToken);
  guard.show(ownCaller, { ...credentialFrom('here', parsedToken), isPeer: () => true });
  return guard;
}
