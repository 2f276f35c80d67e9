// Program of `npm start`: a local cluster on real data, and a ring change under traffic.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { printableLines } from '@ringwright/base/printable';
import { readCities } from './cities.ts';
import { Cluster } from './cluster.ts';
import { findProblems } from './figures.ts';
import { narrator } from './narrator.ts';
import { type Options, parseOptions } from './options.ts';
import { commandsPage, figuresPage } from './page.ts';
import { ringBuilder } from './ring-builder.ts';
import { serverArguments } from './server-process.ts';
import { type Ending, tellStory } from './story.ts';

const EXIT_NOT_IN_ORDER = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

try {
  await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  if (process.exitCode !== EXIT_INTERRUPTED) {
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(printableLines(`\nlocal-cluster: ${text}\n`));
    if (error instanceof CodedError && error.hint !== '') {
      process.stderr.write(printableLines(`${error.hint}\n`));
    }
    process.exitCode = error instanceof CodedError ? error.exit : EXIT_USAGE;
  }
}
// Sockets of an application that failed in mid-story must not keep the program alive.
process.exit();

async function run(options: Options): Promise<void> {
  const folder = options.data ?? fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-'));
  fs.mkdirSync(folder, { recursive: true });
  const rings = path.join(folder, 'rings');
  const cluster = await Cluster.create(folder);
  const ending = new AbortController();
  const tidy = async (): Promise<void> => {
    ending.abort();
    await cluster.stop();
    if (options.data === null) fs.rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = endOnSignal(tidy);
  const output = options.json ? process.stderr : process.stdout;
  const teller = narrator(output);
  const told = (async (): Promise<void> => {
    const builder = ringBuilder({
      rings,
      signal: ending.signal,
      announce: (line) => teller.command(line),
      say: (line) => teller.say(line),
    });
    const cities = await readCities(options.records);
    const { partitions } = options;
    const end = await tellStory({ cluster, builder, narrator: teller, cities, partitions });
    report(end, options);
    if (options.exit) return;
    const surroundings = { rings, folder, sampleKey: must(cities.entries[0], 'records').key };
    output.write(
      `${commandsPage({ ...surroundings, ...aliveAndDead(cluster, end) }).join('\n')}\n`,
    );
    await interrupted;
  })();
  try {
    await Promise.race([told, interrupted]);
  } finally {
    await tidy();
  }
}

function report({ figures, wrong }: Ending, { json }: Options): void {
  const problems = findProblems(figures);
  const ok = problems.length === 0;
  if (!ok) process.exitCode = EXIT_NOT_IN_ORDER;
  const page = [...figuresPage(figures, problems), ...wrong.slice(0, 10)].join('\n');
  if (json) {
    process.stderr.write(`${page}\n`);
    process.stdout.write(`${JSON.stringify({ ...figures, ok, problems }, null, 2)}\n`);
  } else process.stdout.write(`${page}\n`);
}

function aliveAndDead(
  cluster: Cluster,
  { victim, figures }: Ending,
): { port: number; ringVersion: number; revive: string } {
  const alive = must(
    cluster.servers.find((server) => server.isRunning),
    'a server is running',
  );
  const revive = `npx ring-server ${serverArguments(victim.place).join(' ')}`;
  return { port: alive.place.port, ringVersion: figures.ringVersion, revive };
}

/** Resolves at the first signal, with the exit code set; a second signal ends the program at once. */
function endOnSignal(tidy: () => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        process.exitCode ??= EXIT_INTERRUPTED;
        tidy().then(resolve, resolve);
      });
    }
  });
}
