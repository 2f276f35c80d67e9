// The short form of a scenario, as in tools/bench: servers with weights, changes as lists.
// Converted to the long form of read-scenario.ts. Pure.
import { z } from 'zod';

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
export const shortScenarioSchema = z
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
