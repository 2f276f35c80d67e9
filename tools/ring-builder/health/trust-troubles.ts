// Finds what is wrong with the trust of one server: who gets in, which root it has, what expires.
// Pure.
import { trustLifeDaysMax, trustWarnDays } from '@ringwright/base/limits';
import { certificateWarnDays } from '@ringwright/base/limits-commands';
import type { ServerStatus } from '../servers/server-status.ts';
import type { ReferenceHead } from './reference-head.ts';
import type { Demands, Make } from './server-report.ts';
import type { Trouble } from './trouble.ts';

interface Seen {
  readonly head: ReferenceHead;
  readonly nowMs: number;
  readonly demands: Demands;
}

export function trustTroubles(status: ServerStatus, seen: Seen, make: Make): Trouble[] {
  return [
    ...openTroubles(status, seen, make),
    ...rootTroubles(status, seen, make),
    ...certificateTroubles(status, seen, make),
  ];
}

/**
 * Reports a server that lets everybody in while others demand proof. A cluster without grants in
 * which no server demands anything was never secured, which is no trouble.
 */
function openTroubles(
  { trust, demandsTls, insecure }: ServerStatus,
  { head, demands }: Seen,
  make: Make,
): Trouble[] {
  const isGranted = head.access !== null;
  const lacks = [
    ...(trust === null && (isGranted || demands.trust)
      ? ['it runs without --trust: anyone who can reach it may read, write and operate']
      : []),
    ...(demandsTls === false && demands.tls
      ? ['it runs without --tls, which other servers require']
      : []),
    ...(insecure === true && (isGranted || demands.access)
      ? ['it runs with --insecure-listen']
      : []),
  ];
  if (lacks.length === 0) return [];
  const command = head.root === null ? `servers ${head.ring.keyspace}` : 'key trust';
  return [{ ...make('unprotected', lacks.join('; '), command), hint: startHint }];
}

const startHint =
  'unprotected: restart that server on its data, without --insecure-listen: ' +
  'ring-server --trust TRUST.JSON --tls FILE --token-file FILE (key trust shows TRUST.JSON)';

/** Until the server has the newest root, it accepts revoked keys and does not know added ones. */
function rootTroubles({ trust }: ServerStatus, { head, nowMs }: Seen, make: Make): Trouble[] {
  const { ring, root } = head;
  const roots = (trust ?? []).filter(
    ({ cluster }) => root === null || cluster === undefined || cluster === root.cluster,
  );
  const [old] = roots.filter(({ version = root?.version ?? 0 }) => version < (root?.version ?? 0));
  if (old !== undefined && root !== null) {
    const why = `it uses root ${old.version}, but this folder has root ${root.version}`;
    const command = `push ${ring.keyspace}`;
    const hint = `trust behind: it accepts keys revoked since, until ring-builder ${command}`;
    return [{ ...make('trust behind', why, command), hint }];
  }
  const [ends] = roots.flatMap(({ expires }) => endingWithin(expires, trustWarnDays, nowMs));
  if (ends === undefined) return [];
  const why = `its root of trust ${ends}; from then on it accepts no ring`;
  if (root === null) {
    const hint = 'renew the root of trust in the folder that has its trust.json';
    return [{ ...make('trust ends', why, 'key list'), hint }];
  }
  const renew = `key trust --days ${trustLifeDaysMax}`;
  const hint = `ring-builder ${renew} creates the next root; the next push also sends it`;
  return [{ ...make('trust ends', why, renew), hint }];
}

/** Warns of an end early enough to replace the certificate. */
function certificateTroubles(
  { certificate }: ServerStatus,
  { nowMs }: Seen,
  make: Make,
): Trouble[] {
  const { names, starts, ends } = certificate ?? {};
  const isEarly = starts !== undefined && Date.parse(starts) > nowMs;
  const early = isEarly ? [`is not valid before ${starts}`] : [];
  const [wrong] = [...early, ...endingWithin(ends, certificateWarnDays, nowMs)];
  if (wrong === undefined) return [];
  return [make('certificate ends', `its certificate for ${names} ${wrong}`, 'certs list')];
}

/** Returns `ends on 2026-12-24` if that is near: one entry or none. */
function endingWithin(iso: string | undefined, days: number, nowMs: number): string[] {
  if (iso === undefined) return [];
  const endsMs = Date.parse(iso);
  if (endsMs > nowMs + days * 24 * 3_600_000) return [];
  return [`${endsMs <= nowMs ? 'ended' : 'ends'} on ${iso.slice(0, 10)}`];
}
