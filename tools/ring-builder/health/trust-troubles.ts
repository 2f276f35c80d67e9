// What is wrong with the trust of one server: who gets in, which root it has, what ends. Pure.

import { trustLifeDaysMax, trustWarnDays } from '@ringwright/base/limits';
import { certificateWarnDays } from '@ringwright/base/limits-commands';
import type { ServerStatus } from '../servers/server-status.ts';
import type { JudgedHead } from './ring-troubles.ts';
import type { Demands, Make } from './server-troubles.ts';
import type { Trouble } from './trouble.ts';

interface Seen {
  readonly head: JudgedHead;
  readonly nowMs: number;
  readonly demands: Demands;
}

export function trustTroubles(status: ServerStatus, seen: Seen, make: Make): Trouble[] {
  return [...openTroubles(status, seen, make), ...endTroubles(status, seen, make)];
}

/**
 * One open server gives away what the others guard. A cluster where nobody granted anything and no
 * server demands anything was not secured yet: that is no trouble.
 */
function openTroubles(
  { trust, demandsTls, insecure }: ServerStatus,
  { head, demands }: Seen,
  make: Make,
): Trouble[] {
  const isGranted = head.access !== null;
  const lacks = [
    ...(trust === null && (isGranted || demands.trust)
      ? ['it runs without --trust: whoever reaches it may read, write and operate']
      : []),
    ...(demandsTls === false && demands.tls
      ? ['it runs without --tls, which other servers demand']
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
  'unprotected: start that server again on its data, without --insecure-listen: ' +
  'ring-server --trust TRUST.JSON --tls FILE --token-file FILE, as the others were started';

/** What ends by itself, told while there is time for people to meet. */
function endTroubles(
  { trust, certificate }: ServerStatus,
  { head, nowMs }: Seen,
  make: Make,
): Trouble[] {
  const found: Trouble[] = [];
  const [ending] = (trust ?? []).flatMap(({ cluster, version = 0, expires }) => {
    const isOurs = head.root === null || cluster === undefined || cluster === head.root.cluster;
    const [ends] = isOurs ? endingWithin(expires, trustWarnDays, nowMs) : [];
    return ends === undefined ? [] : [{ version, ends }];
  });
  if (ending !== undefined) {
    const why = `its root of trust ${ending.ends}; it takes no ring from then on`;
    const { command, hint } = renewal(head, ending.version);
    found.push({ ...make('trust ends', why, command), hint });
  }
  const [shown] = endingWithin(certificate?.ends, certificateWarnDays, nowMs);
  if (shown !== undefined) {
    const why = `its certificate for ${certificate?.names} ${shown}`;
    found.push(make('certificate ends', why, 'certs list'));
  }
  return found;
}

function renewal(
  { ring, root }: JudgedHead,
  there: number,
): { readonly command: string; readonly hint: string } {
  if (root === null) {
    return { command: 'key list', hint: 'the folder with its trust.json renews a root of trust' };
  }
  const push = `push ${ring.keyspace}`;
  if (there < root.version) {
    return { command: push, hint: `ring-builder ${push} takes root ${root.version} along` };
  }
  const renew = `key trust --days ${trustLifeDaysMax}`;
  const hint = `ring-builder ${renew} makes the next root, which the next push takes along`;
  return { command: renew, hint };
}

/** `ends on 2026-12-24`, where that is near: one or none. */
function endingWithin(iso: string | undefined, days: number, nowMs: number): string[] {
  if (iso === undefined) return [];
  const endsMs = Date.parse(iso);
  if (endsMs > nowMs + days * 24 * 3_600_000) return [];
  return [`${endsMs <= nowMs ? 'ended' : 'ends'} on ${iso.slice(0, 10)}`];
}
