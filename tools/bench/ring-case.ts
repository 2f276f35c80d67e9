#!/usr/bin/env node
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
// Program: builds and changes one scenario in its own process; prints a JSON line per step.
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { createState } from '@ringwright/builder/state/create-state';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { serializeState } from '@ringwright/builder/state/state-json';
import { decodeRing, encodeRing } from '@ringwright/ring/file/ring-file';
import { randomEnds } from '@ringwright/ring/partitioner/hash-ends';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { changesOf, devicesOf, readScenario, type Scenario } from './ring/ring-scenario.ts';
import type { StepFigures } from './ring/ring-table.ts';

const ID = 'f'.repeat(64);
const MB = 1e6;
/** The spread covers every pair of devices: 10^8 pairs take longer than the builder. */
const SPREAD_DEVICES_MAX = 4_096;

const [name = 'S1', kind = 'md5-shift'] = process.argv.slice(2);
const scenario = readScenario(name);
if (scenario.servers.flatMap(({ weights }) => weights).length < scenario.replicas)
  refusal(scenario);
else measure(scenario);

function measure(from: Scenario): void {
  const first = stateOf(from);
  const ring = step('build', { head: null, state: first });
  if (from.steps.length > 0) file(ring, first);
  for (const one of from.steps) {
    step(one.name, { head: ring, state: applyChanges(first, changesOf(one, first)) });
  }
  let head = ring;
  let state = first;
  for (const one of from.sequence) {
    state = applyChanges(state, changesOf(one, state));
    head = step(one.name, { head, state });
    state = dropEmptyDevices(state, head);
  }
}

function stateOf({ power, replicas, overload, ...from }: Scenario): BuilderState {
  const partitioner = partitionerOf(power);
  const settings = { ring: 'bench', cluster: 'bench', minPartHours: 0 };
  const state = createState({ ...settings, partitioner, replicas, overload });
  return { ...state, devices: devicesOf({ power, replicas, overload, ...from }) };
}

function partitionerOf(power: number): Partitioner {
  const partitions = 2 ** power;
  if (kind === 'md5-shift') return { kind, power, prefix: '', suffix: '' };
  const settings = { kind: 'hash-intervals', hash: 'murmur3', partitions } as const;
  return kind === 'hash-intervals' ? settings : { ...settings, ends: randomEnds(partitions, 1) };
}

/** Runs all waves of one change; the seconds are those of the slowest call. */
function step(
  title: string,
  from: { readonly head: Ring | null; readonly state: BuilderState },
): Ring {
  let { head } = from;
  const { state } = from;
  const total = { seconds: 0, cpu: 0, moved: 0, waves: 0 };
  let bound = 0;
  let optimum: number | null = null;
  for (;;) {
    const input = { head, headId: head === null ? null : ID, state, direct: true };
    const start = performance.now();
    const cpu = process.cpuUsage();
    const plan = planVersion(input);
    const used = process.cpuUsage(cpu);
    total.seconds = Math.max(total.seconds, (performance.now() - start) / 1_000);
    total.cpu = Math.max(total.cpu, (used.user + used.system) / 1e6);
    if (total.waves === 0) {
      bound = plan.moveLowerBound;
      optimum = plan.optimum?.moves ?? null;
    }
    total.moved += plan.moves.length;
    const next = nextRing(plan, input);
    total.waves += 1;
    head = next;
    if (plan.movesLeft > 0) continue;
    print({ scenario: name, step: title, ...total, bound, optimum, ...quality(next, state) });
    return next;
  }
}

function quality(ring: Ring, state: BuilderState): Pick<StepFigures, 'worst' | 'over' | 'spread'> {
  if (ring.devices.length > SPREAD_DEVICES_MAX) return { worst: null, over: null, spread: null };
  const { balance, dispersion, spread } = ringFigures(ring, state);
  const avoidable = dispersion.map(({ slotsOverCap, unavoidable }) => slotsOverCap - unavoidable);
  return {
    worst: Math.max(balance.worstSlots, balance.worstTierSlots),
    over: avoidable.reduce((sum, slots) => sum + slots, 0),
    spread: spread?.variance ?? null,
  };
}

function file(ring: Ring, state: BuilderState): void {
  const start = performance.now();
  const { bytes } = encodeRing(ring, { builder: Buffer.from(serializeState(state)) });
  const written = performance.now();
  decodeRing(bytes);
  const read = performance.now();
  process.stdout.write(
    `${JSON.stringify({
      scenario: name,
      file: { mb: bytes.length / MB, writeMs: written - start, readMs: read - written },
    })}\n`,
  );
}

function refusal(from: Scenario): void {
  try {
    planVersion({ head: null, headId: null, state: stateOf(from) });
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ scenario: name, refused: String(error) })}\n`);
  }
}

function print(figures: Omit<StepFigures, 'rssMb'>): void {
  const rssMb = (process.resourceUsage().maxRSS * 1_024) / MB;
  process.stdout.write(`${JSON.stringify({ ...figures, rssMb })}\n`);
}
