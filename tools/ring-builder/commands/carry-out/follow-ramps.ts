// rollout --follow: the next step of every ramp, once the one before has ended and all is well.
import type { Trouble } from '../../health/trouble.ts';
import type { RampRow } from '../../versions/ramps.ts';

export interface LeftToFollow {
  readonly ramps: readonly RampRow[];
  /** ISO 8601: partitions that have to move again rest until then; null: none does. */
  readonly restsUntil: string | null;
}

interface RolloutEnded {
  /** Null: it stopped before its end. */
  readonly left: LeftToFollow | null;
}

export interface RampPorts<Ended extends RolloutEnded> {
  readonly nowMs: () => number;
  readonly rollOut: () => Promise<Ended>;
  /** Of the ring, once it had time to recover; none: all is well. */
  readonly troubles: () => Promise<readonly Trouble[]>;
  /** Commits the next step; false: there was nothing to commit. */
  readonly takeStep: () => Promise<boolean>;
  readonly waitUntil: (ms: number) => Promise<void>;
}

export interface Followed<Ended> {
  /** The last rollout. */
  readonly ended: Ended;
  /** Steps that were taken. */
  readonly steps: number;
  /** Why a step that is left was not taken. */
  readonly troubles: readonly Trouble[];
}

/** Who is killed is started again, and goes on with the rollout of the step that was taken. */
export async function followRamps<Ended extends RolloutEnded>(
  ports: RampPorts<Ended>,
): Promise<Followed<Ended>> {
  for (let steps = 0; ; steps += 1) {
    const ended = await ports.rollOut();
    const nextMs = ended.left === null ? null : nextStepMs(ended.left);
    if (nextMs === null) return { ended, steps, troubles: [] };
    if (nextMs > ports.nowMs()) await ports.waitUntil(nextMs);
    const troubles = await ports.troubles();
    if (troubles.length > 0) return { ended, steps, troubles };
    if (!(await ports.takeStep())) return { ended, steps, troubles: [] };
  }
}

/** Null: no ramp goes on. */
function nextStepMs({ ramps, restsUntil }: LeftToFollow): number | null {
  const begins = ramps
    .filter(({ phase }) => phase !== 'over')
    .map(({ phase, from }) => (phase === 'due' ? 0 : Date.parse(from)));
  if (begins.length === 0) return null;
  return Math.max(Math.min(...begins), restsUntil === null ? 0 : Date.parse(restsUntil));
}
