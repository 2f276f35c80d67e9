// GET /readyz: whether requests should come here. Rings are ready one by one: a small ring that
// refills, or has lost its copies, takes no other with it.
import { activeDuties } from './active-duties.ts';
import { countReady, type StatusPorts } from './status.ts';

export interface ReadyAnswer {
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
 * `ring`: of that one alone; null: ready as soon as one ring is, or where none is to be waited for.
 * Throws RING_UNKNOWN.
 */
export function readyAnswer(
  { rings, store }: Pick<StatusPorts, 'rings' | 'store'>,
  ring: string | null,
): ReadyAnswer {
  const asked = ring === null ? rings.list() : [rings.get(ring)];
  const infos = store.list();
  const found = asked.map((active) => {
    const { keyspace } = active.ring;
    const { serve } = activeDuties(active);
    const notReady = serve.length - countReady(infos, keyspace, serve);
    return { ring: keyspace, ready: notReady === 0, notReady };
  });
  const waiting = found
    .filter(({ ready }) => !ready)
    .map(({ ring: name, notReady }) => ({ ring: name, notReady }));
  return { ready: found.length === 0 || waiting.length < found.length, rings: found, waiting };
}
