// A composite ring as tests type it: `both`, of east (2 replicas, 3 devices) and west (1, 2).
import { type RingBuilderHere, ringBuilderHere } from './ring-builder-here.ts';

interface Table {
  readonly devices: readonly ({ readonly device: string } | null)[];
  readonly table: readonly (readonly number[])[];
}

interface Shape {
  readonly replicas: number;
  readonly devices: readonly number[];
  readonly partitions?: number;
}

/** Creates version 1 of `both`, which no server has received. */
export async function composedRing(): Promise<RingBuilderHere> {
  const tool = await twoRings();
  await tool.json('compose both east west');
  return tool;
}

export async function twoRings(): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  await makeRing(tool, 'east', { replicas: 2, devices: [1, 2, 3] });
  await makeRing(tool, 'west', { replicas: 1, devices: [4, 5] });
  return tool;
}

export async function makeRing(tool: RingBuilderHere, name: string, shape: Shape): Promise<void> {
  const { replicas, devices, partitions = 16 } = shape;
  await tool.json(`create ${name} --partitions ${partitions} --replicas ${replicas}`);
  await tool.json(['add', name, ...devices.flatMap((n) => [deviceText(n), `${n}`])]);
  await tool.json(`commit ${name} -m first`);
}

export const deviceText = (n: number): string => `r1z${n}-10.0.0.${n}:6200/sd${n}`;

/** Returns rows of device names, because ids differ between a composite ring and its components. */
export async function rowsOf(
  tool: RingBuilderHere,
  ...names: readonly string[]
): Promise<(string | undefined)[][]> {
  const rows: (string | undefined)[][] = [];
  for (const name of names) {
    const { table, devices } = await tool.json<Table>(`table ${name}`);
    rows.push(...table.map((row) => row.map((id) => devices[id]?.device)));
  }
  return rows;
}
