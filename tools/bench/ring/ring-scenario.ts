// The clusters and changes that measure the builder: files of scenarios/, and larger ones.
import fs from 'node:fs';
import path from 'node:path';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';

/** Region, zone, ip, device name, weight. */
type DeviceRow = readonly [
  region: number,
  zone: number,
  ip: string,
  device: string,
  weight: number,
];

interface ScenarioChange {
  readonly add?: DeviceRow;
  readonly remove?: number;
  readonly weight?: readonly [id: number, weight: number];
  readonly replicas?: number;
}

interface ScenarioStep {
  readonly name: string;
  readonly changes: readonly ScenarioChange[];
}

export interface Scenario {
  readonly name: string;
  readonly note: string;
  readonly power: number;
  readonly replicas: number;
  readonly overload: number;
  /** Devices are numbered in this order and named sd000, sd001 … on each server. */
  readonly servers: readonly {
    readonly region: number;
    readonly zone: number;
    readonly ip: string;
    readonly weights: readonly number[];
  }[];
  /** Each step starts from the finished first version. */
  readonly steps: readonly ScenarioStep[];
  /** Steps that follow each other. */
  readonly sequence: readonly ScenarioStep[];
}

const folder = path.join(import.meta.dirname, '../scenarios');
const PORT = 6200;
const WEIGHT = 100;

export const smallNames: readonly string[] = fs
  .readdirSync(folder)
  .map((file) => path.basename(file, '.json'))
  .sort();
/** Power, zones, servers per zone, devices per server. */
const largeShapes = {
  L23x4000: [23, 10, 20, 20],
  L24x10000: [24, 20, 25, 20],
  // The same cluster with twice the partitions each: shows whether time grows with partitions
  // alone.
  G16x1000: [16, 10, 10, 10],
  G17x1000: [17, 10, 10, 10],
  G18x1000: [18, 10, 10, 10],
  G19x1000: [19, 10, 10, 10],
  G20x1000: [20, 10, 10, 10],
  G21x1000: [21, 10, 10, 10],
  G22x1000: [22, 10, 10, 10],
} as const;

export const growthNames: readonly string[] = Object.keys(largeShapes).filter((name) =>
  name.startsWith('G'),
);
export const largeNames: readonly string[] = ['L23x4000', 'L24x10000'];

export function readScenario(name: string): Scenario {
  if (name in largeShapes) return largeScenario(name as keyof typeof largeShapes);
  return JSON.parse(fs.readFileSync(scenarioPath(name), 'utf8')) as Scenario;
}

export function scenarioPath(name: string): string {
  return path.join(folder, `${name}.json`);
}

function largeScenario(name: keyof typeof largeShapes): Scenario {
  const [power, zones, servers, disks] = largeShapes[name];
  const weights = Array.from({ length: disks }, () => WEIGHT);
  const ipOf = (zone: number, server: number): string => `10.1.${zone}.${server}`;
  const list = Array.from({ length: zones * servers }, (_, i) => {
    const zone = 1 + Math.floor(i / servers);
    return { region: 1, zone, ip: ipOf(zone, 1 + (i % servers)), weights };
  });
  const note = `${zones} zones x ${servers} servers x ${disks} devices, equal weight`;
  const devices = zones * servers * disks;
  const server = (zone: number, number: number): ScenarioChange[] =>
    weights.map((weight, disk) => ({
      add: [1, zone, ipOf(zone, number), `sd${String(disk).padStart(3, '0')}`, weight],
    }));
  const second = weights.map((_, disk) => disks + disk);
  const steps: ScenarioStep[] = [
    { name: 'a_add_device', changes: [{ add: [1, 1, ipOf(1, 1), 'sd900', WEIGHT] }] },
    { name: 'b_add_server', changes: server(1, servers + 1) },
    { name: 'd_remove_device', changes: [{ remove: devices >> 1 }] },
    { name: 'e_remove_server', changes: second.map((remove) => ({ remove })) },
    { name: 'f_double_weight', changes: [{ weight: [devices >> 1, 2 * WEIGHT] }] },
    { name: 'g_drain_server', changes: second.map((id) => ({ weight: [id, 0] })) },
    { name: 'z_nothing', changes: [] },
  ];
  const zone = Array.from({ length: servers }, (_, i) => server(zones + 1, i + 1)).flat();
  steps.splice(2, 0, { name: 'c_add_zone', changes: zone });
  const sequence: ScenarioStep[] = [];
  for (let i = 0; i < 10 && name.startsWith('L'); i += 1) {
    const id = (i * 997) % devices;
    const step = `h${String(i + 1).padStart(2, '0')}`;
    if (i % 3 === 0) sequence.push({ name: `${step}_remove`, changes: [{ remove: id }] });
    else
      sequence.push({ name: `${step}_weight`, changes: [{ weight: [id, (i % 3) * 150 - 150] }] });
  }
  return { name, note, power, replicas: 3, overload: 0, servers: list, steps, sequence };
}

/** Returns the changes for the builder; added devices get the next ids of `state`. */
export function changesOf(step: ScenarioStep, state: BuilderState): Change[] {
  let next = state.devices.length;
  return step.changes.map((change): Change => {
    if (change.add !== undefined) return { kind: 'add', device: deviceOf(change.add, next++) };
    if (change.remove !== undefined) return { kind: 'remove', id: change.remove };
    if (change.weight !== undefined) {
      return { kind: 'set-weight', id: change.weight[0], weight: change.weight[1] };
    }
    const { replicas } = change;
    return { kind: 'set', settings: replicas === undefined ? {} : { replicas } };
  });
}

export function devicesOf({ servers }: Scenario): BuilderState['devices'] {
  const rows = servers.flatMap(({ region, zone, ip, weights }) =>
    weights.map((weight, disk): DeviceRow => {
      return [region, zone, ip, `sd${String(disk).padStart(3, '0')}`, weight];
    }),
  );
  return rows.map((row, id) => ({ ...deviceOf(row, id), state: 'active' as const }));
}

function deviceOf([region, zone, ip, device, weight]: DeviceRow, id: number) {
  return { id, region, zone, ip, port: PORT, device, weight, meta: '' };
}
