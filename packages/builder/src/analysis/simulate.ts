// Carries out a list of changes on paper, version by version, with figures for each step. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Ring } from '@ringwright/ring/ring';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { Change } from '../state/change.ts';
import { dropEmptyDevices } from '../state/drop-empty-devices.ts';
import { type RingFigures, ringFigures } from './figures.ts';

export interface SimulationStep {
  readonly name: string;
  /** Hours since the step before. */
  readonly afterHours: number;
  readonly changes: readonly Change[];
}

export interface StepFigures {
  readonly name: string;
  readonly hours: number;
  /** Version after the step, and the number of versions (waves) that it took. */
  readonly version: number;
  readonly versions: number;
  readonly moved: number;
  readonly moveLowerBound: number;
  /** Moves that minPartHours held back. */
  readonly movesLeft: number;
  readonly partitionsMovingTwice: number;
  readonly figures: Pick<RingFigures, 'balance' | 'dispersion' | 'spread'> | null;
  /** Why the step was refused; the ring then stays as it was. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

interface Simulated {
  readonly ring: Ring | null;
  readonly state: BuilderState;
  readonly versionHours: Map<number, number>;
}

/** No change needs more waves than the ring has replicas; the rest guards against a bug. */
const WAVES_MAX = 64;
const PAPER_ID = '0'.repeat(64);

/** Copying takes no time here. Moves that minPartHours holds back are left for the next step. */
export function simulate(state: BuilderState, steps: readonly SimulationStep[]): StepFigures[] {
  let simulated: Simulated = { ring: null, state, versionHours: new Map() };
  let hours = 0;
  return steps.map((step) => {
    hours += step.afterHours;
    const { after, figures } = simulateStep(simulated, step, hours);
    simulated = after;
    return figures;
  });
}

function simulateStep(
  before: Simulated,
  step: SimulationStep,
  hours: number,
): { after: Simulated; figures: StepFigures } {
  const totals = {
    moved: 0,
    moveLowerBound: 0,
    movesLeft: 0,
    partitionsMovingTwice: 0,
    versions: 0,
  };
  const stepInfo = { name: step.name, hours };
  try {
    const state = applyChanges(dropEmptyDevices(before.state, before.ring), step.changes);
    let { ring } = before;
    const versionHours = new Map(before.versionHours);
    do {
      const headId = ring === null ? null : PAPER_ID;
      const from = { head: ring, headId, state, direct: true };
      const plan = planVersion({ ...from, versionHours, nowHours: hours });
      if (ring !== null && plan.moves.length === 0 && plan.cut === null) {
        totals.movesLeft = plan.movesLeft;
        break;
      }
      if (totals.versions === 0) totals.moveLowerBound = plan.moveLowerBound;
      ring = nextRing(plan, from);
      // The next wave obeys minPartHours too: partitions moved by this wave are frozen then.
      versionHours.set(ring.version, hours);
      totals.versions += 1;
      totals.moved += plan.moves.length;
      totals.movesLeft = plan.movesLeft;
      totals.partitionsMovingTwice += plan.partitionsMovingTwice;
    } while (totals.movesLeft > 0 && totals.versions < WAVES_MAX);
    const { balance, dispersion, spread } = ringFigures(ring, state);
    const figures = { balance, dispersion, spread };
    const stepFigures = { ...stepInfo, version: ring.version, ...totals, figures, refusal: null };
    return { after: { ring, state, versionHours }, figures: stepFigures };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const refusal = { code: error.code, message: error.message };
    const version = before.ring?.version ?? 0;
    return { after: before, figures: { ...stepInfo, version, ...totals, figures: null, refusal } };
  }
}
