// GET /readyz: whether this server should receive requests. Rings become ready one by one, so a
// small ring that refills, or has lost its copies, does not make the others unavailable.
import type { Guard } from '../access/guard.ts';
import { isGatewayAccepted, type NonMemberPorts } from '../peers/non-members.ts';
import type { PeerReconnects } from '../peers/peer-reconnects.ts';
import { type ActiveRing, activeDuties } from '../rings/active-ring.ts';
import { notReadyHere, type StatusPorts } from '../status/status.ts';

type WhyNot = 'CALLER_UNPROVEN' | 'DISK_HANGS' | 'JUST_STARTED' | 'RING_STALE';

interface ReadyAnswer {
  readonly ready: boolean;
  /** `notReady`: partitions that the ring gives this device and that cannot be read here yet. */
  readonly rings: readonly {
    readonly ring: string;
    readonly ready: boolean;
    readonly notReady: number;
  }[];
  /** The rings that are not ready. */
  readonly waiting: readonly {
    readonly ring: string;
    readonly notReady: number;
    /**
     * CALLER_UNPROVEN: the ring does not name this server, and its devices would not answer it.
     * DISK_HANGS: a write of the commit log does not return, so this server stores nothing.
     * JUST_STARTED: the ring names this server, but some of its other servers may not have
     * reconnected to it. RING_STALE: a newer version was active here, or the only one, and its file
     * cannot be read, for example after a downgrade.
     */
    readonly why?: WhyNot;
  }[];
}

export interface ReadyPorts extends Pick<StatusPorts, 'rings' | 'store'>, NonMemberPorts {
  readonly guard: Pick<Guard, 'isGranted' | 'isPending'>;
  readonly reconnects: Pick<PeerReconnects, 'isWaiting'>;
}

/**
 * `ring`: judges this ring alone. Null: ready as soon as one ring that gives this device something
 * is ready; if no ring does, as soon as any ring is ready, or if there is none. Not ready while the
 * server waits for its access document. Throws RING_UNKNOWN.
 */
export function readyAnswer(ports: ReadyPorts, ring: string | null): ReadyAnswer {
  const { rings, store, guard } = ports;
  const actives = ring === null ? rings.list() : [rings.get(ring)];
  const readable = actives.map((active) => {
    const notReady = notReadyHere(store, active);
    const served = activeDuties(active).serve.length;
    const { keyspace } = active.ring;
    const why = whyNot(ports, active);
    const ready = notReady === 0 && why === null;
    return { ring: keyspace, ready, notReady, why, served };
  });
  const unreadable = ring === null ? rings.unreadable().map(stale) : [];
  const found = [...readable, ...unreadable];
  const waiting = found
    .filter(({ ready }) => !ready)
    .map(({ ring: name, notReady, why }) => ({
      ring: name,
      notReady,
      ...(why !== null && { why }),
    }));
  // Rings that give this device nothing are ignored, unless there are no others.
  const servingRings = found.filter((one) => one.served > 0);
  const counted = servingRings.length === 0 ? found : servingRings;
  const isReady = counted.length === 0 || counted.some(({ ready }) => ready);
  const items = found.map(({ ring: name, ready, notReady }) => ({ ring: name, ready, notReady }));
  return { ready: isReady && !guard.isPending, rings: items, waiting };
}

/** It may give this device something. */
function stale(ring: string) {
  return { ring, notReady: 0, why: 'RING_STALE', ready: false, served: 1 } as const;
}

function whyNot(ports: ReadyPorts, active: ActiveRing): WhyNot | null {
  const { keyspace, version } = active.ring;
  if (version < (ports.rings.highestOnDisk(keyspace)?.version ?? 0)) return 'RING_STALE';
  if (!isGatewayAccepted(ports, active)) return 'CALLER_UNPROVEN';
  if (active.self !== null && ports.store.disk.stall() !== null) return 'DISK_HANGS';
  return active.self !== null && ports.reconnects.isWaiting ? 'JUST_STARTED' : null;
}
