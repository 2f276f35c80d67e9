// A benchmark of several sections: its command line, a folder per section, and a table or JSON.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { benchOptions, refuse } from './bench-options.ts';
import { type Comparison, tableLines } from './comparison.ts';
import { profileLines } from './cpu-profile.ts';
import { machine } from './machine.ts';

/** The input of every section. */
export interface Section<Size extends string> {
  /** A folder of its own for everything that it starts; deleted afterwards. */
  readonly folder: string;
  readonly sizes: Readonly<Record<Size, number>>;
  /** Arguments for the servers' Node, such as --cpu-prof. */
  readonly nodeArgs: readonly string[];
  /** Reports progress to the user. */
  readonly tell: (line: string) => void;
}

interface Benchmark<Size extends string> {
  readonly name: string;
  readonly about: string;
  /** Numbers, each with an option of the same name. */
  readonly sizes: Readonly<Record<Size, { readonly usual: number; readonly about: string }>>;
  readonly sections: Readonly<Record<string, (section: Section<Size>) => Promise<Comparison[]>>>;
  /** Options of an example run. */
  readonly example: string;
}

interface Asked<Size extends string> {
  readonly only: readonly string[];
  readonly sizes: Readonly<Record<Size, number>>;
  readonly profile: boolean;
  readonly json: boolean;
}

/** Reads the command line, runs the requested sections, and prints the results. */
export async function runBenchmark<Size extends string>(benchmark: Benchmark<Size>): Promise<void> {
  const { name } = benchmark;
  const options = parse(benchmark);
  const rows: Comparison[] = [];
  for (const section of options.only) {
    try {
      rows.push(...(await runSection(benchmark, section, options)));
    } catch (error) {
      // The results of the other sections are still printed.
      console.error(`${section} failed:`, error);
      process.exitCode = 1;
    }
  }
  const { sizes } = options;
  if (options.json) {
    console.log(JSON.stringify({ benchmark: name, machine, ...sizes, rows }, null, 2));
    return;
  }
  const sizeText = Object.entries(sizes).map(([size, value]) => `${size} ${String(value)}`);
  console.log(
    `${machine.cores} cores (${machine.cpu}), node ${machine.node}; ${sizeText.join(', ')}`,
  );
  for (const line of tableLines(rows)) console.log(line);
}

async function runSection<Size extends string>(
  { name, sections }: Benchmark<Size>,
  section: string,
  { sizes, profile }: Asked<Size>,
): Promise<Comparison[]> {
  const prefix = path.join(os.tmpdir(), `ringwright-bench-${name}-${section}-`);
  await using temporaryFolder = await fs.mkdtempDisposable(prefix);
  const folder = temporaryFolder.path;
  const profiles = path.join(folder, 'profiles');
  const nodeArgs = profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [];
  const tell = (line: string): void => console.error(`${section}: ${line} …`);
  const rows = (await sections[section]?.({ folder, sizes, nodeArgs, tell })) ?? [];
  if (profile) for (const line of await profileLines(profiles)) console.error(line);
  return rows;
}

function parse<Size extends string>(benchmark: Benchmark<Size>): Asked<Size> {
  const { name, sizes, sections } = benchmark;
  const names = Object.keys(sizes) as Size[]; // its keys are of type Size
  const known = Object.keys(sections);
  const values = benchOptions({
    name,
    usage: usageOf(benchmark),
    options: {
      ...Object.fromEntries(names.map((size) => [size, { type: 'string' }] as const)),
      only: { type: 'string', multiple: true, default: known },
      profile: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const valuesByName = new Map<string, unknown>(Object.entries(values));
  const numbers = names.map((size) => {
    const number = Number(valuesByName.get(size) ?? sizes[size].usual);
    if (!(number > 0)) refuse(name, `--${size} takes a number above 0`);
    return [size, number] as const;
  });
  const unknown = values.only.find((section) => !known.includes(section));
  if (unknown !== undefined) refuse(name, `no section '${unknown}', only ${known.join(', ')}`);
  const { only, profile, json } = values;
  // Every name of type Size has its number.
  return { only, profile, json, sizes: Object.fromEntries(numbers) as Record<Size, number> };
}

function usageOf<Size extends string>(benchmark: Benchmark<Size>): string {
  const { name, about, sizes, sections, example } = benchmark;
  const names = Object.keys(sizes) as Size[]; // as in parse()
  return [
    `npm run bench:${name} -- [options]`,
    '',
    about,
    `  --only NAME     ${Object.keys(sections).join(' | ')}; may be repeated`,
    ...names.map((size) => {
      return `${`  --${size} N`.padEnd(17)} ${sizes[size].about}, default ${sizes[size].usual}`;
    }),
    '  --profile       where the CPU time of the servers went, by function, per section',
    '  --json          one JSON document on standard output',
    `Example: npm run bench:${name} -- ${example}`,
  ].join('\n');
}
