// GET /readyz: whether requests should come here. Rings are ready one by one: a small ring that
// refills, or has lost its copies, takes no other with it.
import { activeDuties } from '../rings/active-duties.ts';
import { notReadyHere, type StatusPorts } from '../status/status.ts';

interface ReadyAnswer {
  readonly ready: boolean;
  /** Partitions that the ring gives this device and that cannot be read here yet. */
  readonly rings: readonly {
    readonly ring: string;
    readonly ready: boolean;
    readonly notReady: number;
  }[];
  /** Those that are not ready. */
  readonly waiting: readonly { readonly ring: string; readonly notReady: number }[];
}

/**
 * `ring`: of that one alone; null: ready as soon as one ring that gives this device something is,
 * or where none does.
 * Throws RING_UNKNOWN.
 */
export function readyAnswer(
  { rings, store }: Pick<StatusPorts, 'rings' | 'store'>,
  ring: string | null,
): ReadyAnswer {
  const asked = ring === null ? rings.list() : [rings.get(ring)];
  const infos = store.list();
  const found = asked.map((active) => {
    const notReady = notReadyHere(infos, active);
    const given = activeDuties(active).serve.length;
    return { ring: active.ring.keyspace, ready: notReady === 0, notReady, given };
  });
  const waiting = found
    .filter(({ ready }) => !ready)
    .map(({ ring: name, notReady }) => ({ ring: name, notReady }));
  // A ring that gives this device nothing says nothing of it, unless all are such.
  const given = found.filter((one) => one.given > 0);
  const isReady = given.length === 0 || given.some(({ ready }) => ready);
  const told = found.map(({ ring: name, ready, notReady }) => ({ ring: name, ready, notReady }));
  return { ready: isReady, rings: told, waiting };
}
