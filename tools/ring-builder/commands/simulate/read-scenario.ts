// Reads scenarios for simulate, in the two forms of SCENARIOS.md. Pure.

import { parseJson } from '@ringwright/base/parse-json';
import { messageOf } from '@ringwright/base/thrown';
import type { SimulationStep } from '@ringwright/builder/analysis/simulate';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import { issueSentence } from '@ringwright/ring/issue-sentence';
import { z } from 'zod';
import { usage } from '../../cli/arguments.ts';

interface Scenario {
  readonly name: string;
  readonly state: BuilderState;
  /** Each run begins with the initial devices. */
  readonly runs: readonly { readonly name: string; readonly steps: readonly SimulationStep[] }[];
}

const deviceSchema = z.strictObject({
  id: z.int().optional(),
  region: z.int().default(1),
  zone: z.int(),
  ip: z.string(),
  port: z.int(),
  device: z.string(),
  weight: z.number(),
  meta: z.string().default(''),
});

const operationSchema = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('add'), dev: deviceSchema }),
  z.strictObject({ op: z.literal('remove'), id: z.int() }),
  z.strictObject({ op: z.literal('weight'), id: z.int(), weight: z.number() }),
  z.strictObject({ op: z.literal('overload'), overload: z.number() }),
  z.strictObject({ op: z.literal('replicas'), replicas: z.number() }),
]);

const scenarioSchema = z.strictObject({
  name: z.string().default('scenario'),
  part_power: z.int(),
  replicas: z.number(),
  min_part_hours: z.int().default(0),
  overload: z.number().default(0),
  devices: z.array(deviceSchema),
  /** Steps one after the other; `after_hours` counts from the step before. */
  sequence: z
    .array(
      z.strictObject({
        kind: z.string(),
        after_hours: z.number().default(0),
        ops: z.array(operationSchema),
      }),
    )
    .default([]),
  /** Alternatives: each is applied alone to the first placement. */
  steps: z.record(z.string(), z.array(operationSchema)).default({}),
});

type Operation = z.infer<typeof operationSchema>;

/** Throws USAGE with the path of the faulty value, VALUE_OUT_OF_RANGE for settings. */
export function readScenario(content: string, path: string): Scenario {
  const document = parseJson(content, (cause) => usage(`${path}: ${messageOf(cause)}`));
  const { min_part_hours: minPartHours, ...data } = scenarioOf(document, path);
  const { name, part_power: power, replicas, overload, devices } = data;
  const state = createState({
    ring: 'simulated',
    cluster: 'paper',
    partitioner: { kind: 'md5-shift', power, prefix: '', suffix: '' },
    replicas,
    minPartHours,
    overload,
  });
  const ids = new Map<number, number>();
  const add = devices.map((dev) => changeOf({ op: 'add', dev }, ids));
  const first = { name: 'first', afterHours: 0, changes: add };
  const sequence = data.sequence.map(({ kind, after_hours: afterHours, ops }) => {
    return { name: kind, afterHours, changes: ops.map((one) => changeOf(one, ids)) };
  });
  const alternatives = Object.entries(data.steps).map(([step, ops]) => {
    const stepIds = new Map([...ids].slice(0, devices.length));
    const changes = ops.map((one) => changeOf(one, stepIds));
    return { name: step, steps: [first, { name: step, afterHours: 0, changes }] };
  });
  const line = { name: sequence.length > 0 ? 'sequence' : '', steps: [first, ...sequence] };
  const runs =
    sequence.length > 0 || alternatives.length === 0 ? [line, ...alternatives] : alternatives;
  return { name, state, runs };
}

/** Parses both forms. Only the short form has `servers`. */
function scenarioOf(document: unknown, path: string): z.infer<typeof scenarioSchema> {
  const isShort = typeof document === 'object' && document !== null && 'servers' in document;
  const short = isShort ? shortScenarioSchema.safeParse(document) : null;
  const parsed =
    short?.success === false ? short : scenarioSchema.safeParse(short?.data ?? document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const wrong = issue === undefined ? 'wrong' : issueSentence(issue);
  const message = `${path}: ${field === '' ? '' : `${field}: `}${wrong}`;
  throw usage(message, 'ring-builder simulate --help and SCENARIOS.md describe the form');
}

/** Maps the ids of the file to the next free ids, in the order in which devices are added. */
function changeOf(operation: Operation, ids: Map<number, number>): Change {
  switch (operation.op) {
    case 'add': {
      const { id: scenarioId, ...fields } = operation.dev;
      const id = ids.size;
      ids.set(scenarioId ?? id, id);
      return { kind: 'add', device: { ...fields, id } };
    }
    case 'remove':
      return { kind: 'remove', id: idOf(operation.id, ids) };
    case 'weight':
      return { kind: 'set-weight', id: idOf(operation.id, ids), weight: operation.weight };
    case 'overload':
      return { kind: 'set', settings: { overload: operation.overload } };
    case 'replicas':
      return { kind: 'set', settings: { replicas: operation.replicas } };
    default:
      throw usage('an unknown operation');
  }
}

function idOf(id: number, ids: ReadonlyMap<number, number>): number {
  return ids.get(id) ?? id;
}

const portOfAll = 6200;

const changeSchema = z.union([
  /** Region, zone, ip, device name, weight. */
  z.strictObject({ add: z.tuple([z.int(), z.int(), z.string(), z.string(), z.number()]) }),
  z.strictObject({ remove: z.int() }),
  /** Id, weight. */
  z.strictObject({ weight: z.tuple([z.int(), z.number()]) }),
  z.strictObject({ overload: z.number() }),
  z.strictObject({ replicas: z.number() }),
]);

const stepSchema = z.strictObject({ name: z.string(), changes: z.array(changeSchema) });

/** Devices are numbered in this order and named sd000, sd001 … on each server. */
const shortScenarioSchema = z
  .strictObject({
    name: z.string().default('scenario'),
    note: z.string().default(''),
    power: z.int(),
    replicas: z.number(),
    overload: z.number().default(0),
    servers: z.array(
      z.strictObject({
        region: z.int(),
        zone: z.int(),
        ip: z.string(),
        weights: z.array(z.number()),
      }),
    ),
    /** Alternatives: each starts from the finished first version. */
    steps: z.array(stepSchema).default([]),
    /** Steps one after the other. */
    sequence: z.array(stepSchema).default([]),
  })
  .transform(({ name, power, replicas, overload, servers, steps, sequence }) => ({
    ...{ name, part_power: power, replicas, overload },
    devices: servers.flatMap(({ region, zone, ip, weights }) =>
      weights.map((weight, disk) => {
        return { region, zone, ip, port: portOfAll, device: diskName(disk), weight };
      }),
    ),
    steps: Object.fromEntries(steps.map((step) => [step.name, step.changes.map(operationOf)])),
    sequence: sequence.map((step) => ({ kind: step.name, ops: step.changes.map(operationOf) })),
  }));

function diskName(disk: number): string {
  return `sd${String(disk).padStart(3, '0')}`;
}

function operationOf(change: z.infer<typeof changeSchema>) {
  if ('add' in change) {
    const [region, zone, ip, device, weight] = change.add;
    return { op: 'add', dev: { region, zone, ip, port: portOfAll, device, weight } };
  }
  if ('remove' in change) return { op: 'remove', id: change.remove };
  if ('weight' in change) return { op: 'weight', id: change.weight[0], weight: change.weight[1] };
  if ('overload' in change) return { op: 'overload', overload: change.overload };
  return { op: 'replicas', replicas: change.replicas };
}
