// The parts of a server that deal with rings themselves: the active rings, forks, and the exchange
// of rings with other servers.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { ringRelayCooldownMs } from '@ringwright/base/limits-rings';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import type { Logger } from 'pino';
import type { Guard } from './access/guard.ts';
import type { OpenedDevice } from './open-device.ts';
import type { ActiveRing } from './rings/active-ring.ts';
import { RelayedDeltas } from './rings/relayed-deltas.ts';
import { loadRingCache } from './rings/ring-cache.ts';
import { type ConnectBack, RingExchange } from './rings/ring-exchange.ts';
import { RingForks } from './rings/ring-forks.ts';
import { RingRelay } from './rings/ring-relay.ts';
import { Rings } from './rings/rings.ts';
import { requireDropsAllowed } from './rings/why-no-drops.ts';
import { trustStatus } from './status/status.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { freshnessOf } from './trust/freshness.ts';
import { TrustExchange } from './trust/trust-exchange.ts';
import type { TrustStore } from './trust/trust-store.ts';

export type RingParts = Awaited<ReturnType<typeof assembleRings>>;

interface Ports {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly onActivate: (active: ActiveRing, before: ActiveRing | undefined) => void;
  readonly connectBack: ConnectBack;
  readonly guard: Pick<Guard, 'demands'>;
}

/** Loads the rings from disk; `onActivate` is called for those rings too. Throws DISK_FAILED. */
export async function assembleRings(opened: OpenedDevice, ports: Ports) {
  const { metrics, log, onActivate } = ports;
  const { identity, trust } = opened;
  const cache = { directory: join(opened.directory, 'rings') };
  const forks = await loadForks(cache.directory, ports);
  const cached = await loadRingCache(cache, (file, error) => {
    const isNewer = hasCode(error, 'RING_FORMAT_UNKNOWN');
    log.error({ file, error }, isNewer ? 'ring file of a newer release' : 'ring file damaged');
  });
  const onRefuse = ({ code }: CodedError): void => metrics.ringRefusals.inc({ code });
  const isOpen = (): boolean => !ports.guard.demands;
  const parts = { cache, identity, nowMs, trust, forks, isOpen, onActivate, onRefuse };
  const rings = new Rings(parts, cached);
  const trustExchange = new TrustExchange(trust, opened.access, log);
  const deltas = new RelayedDeltas(cache);
  const exchange = new RingExchange(rings, {
    trust: trustExchange,
    deltas,
    connectBack: ports.connectBack,
    onFetched: (form, bytes) => metrics.fetchedRingBytes.inc({ form }, bytes),
  });
  const relay = createRelay({ rings, trust: trustExchange, deltas }, ports);
  return {
    ...{ rings, forks, exchange, relay, trustExchange },
    /** Throws the reason why nothing may be dropped under this ring at present. */
    requireDropsAllowed: ({ id, signing, ring }: ActiveRing): void => {
      const { keyspace, version } = ring;
      const place = { epoch: signing?.epoch ?? null, version, id };
      const freshness = freshnessOf(trust.beaconOf(keyspace), place, nowMs());
      requireDropsAllowed(keyspace, { alarm: forks.alarm(keyspace), freshness });
    },
  };
}

type RelayParts = Pick<ConstructorParameters<typeof RingRelay>[0], 'rings' | 'trust' | 'deltas'>;

function createRelay(parts: RelayParts, { log }: Ports): RingRelay {
  return new RingRelay({
    ...parts,
    monotonicMs,
    // The random pause spreads the relays: what one server has sent, the others need not send.
    cooldown: () => delay(ringRelayCooldownMs * (1 + Math.random()), undefined, { ref: false }),
    onSent: (to, { ring: { keyspace, version } }) =>
      log.info({ to, ring: keyspace, version }, 'ring sent to a member that lacked it'),
    onRefused: (to, { ring: { keyspace, version } }, error) =>
      log.warn({ to, ring: keyspace, version, error }, 'ring refused by a member that lacks it'),
  });
}

function loadForks(directory: string, { log }: Ports): Promise<RingForks> {
  return RingForks.load({
    directory,
    nowMs,
    onAlarm: (fork) => {
      log.error(
        fork,
        'FORK: two rings have the same version; nothing is dropped until it is settled',
      );
    },
    onSettled: (fork) => {
      log.warn(fork, 'fork settled by an operator');
    },
  });
}

/** Says at the start whom this server trusts. `active`: the rings that were here before. */
export function logTrust(trust: TrustStore, active: readonly ActiveRing[], log: Logger): void {
  const roots = trustStatus({ trust, nowMs });
  if (roots === null) {
    log.warn(
      'UNSIGNED rings are accepted from anyone who can reach this port: --trust prevents that',
    );
    return;
  }
  if (roots.length === 0) {
    log.warn('only the id of a root is known: no ring is accepted until its document is pushed');
  }
  for (const root of roots) {
    const hasEnded = Date.parse(root.expires) <= nowMs();
    if (hasEnded)
      log.error(root, 'the root of trust has expired: no ring is accepted until it is renewed');
    else if (root.expiresSoon) log.warn(root, 'the root of trust expires soon: renew it');
    else log.info(root, 'only rings signed under this root are accepted');
  }
  for (const { ring, signing } of active) {
    if (signing !== null && signing !== undefined) continue;
    const logFields = { ring: ring.keyspace, version: ring.version };
    log.warn(
      logFields,
      'this ring is UNSIGNED: it is served as before, its next version must be signed',
    );
  }
}
