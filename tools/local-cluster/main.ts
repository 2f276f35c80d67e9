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
import { columnsOf, narrator } from './narrator.ts';
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
  const ports = await Cluster.findPorts();
  // From here to the handlers of signals nothing waits: what is made is always removed.
  const folder = options.data ?? fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-'));
  fs.mkdirSync(folder, { recursive: true });
  const cluster = new Cluster(folder, ports);
  const ending = new AbortController();
  const output = options.json ? process.stderr : process.stdout;
  const remove = (): void => {
    // A command that was stopped may still have been writing.
    if (options.data === null) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const interrupted = endOnSignal({
    first: async () => {
      const files = options.data === null ? 'all files go' : `files stay in ${folder}`;
      output.write(`\nThe servers are ended, ${files}. Ctrl-C again ends them at once.\n`);
      ending.abort();
      await (options.data === null ? cluster.killHard() : cluster.stop());
      remove();
    },
    again: () => {
      cluster.killNow();
      remove();
    },
  });
  const told = tell({ options, folder, cluster, output, signal: ending.signal });
  try {
    await Promise.race([told.then(() => (options.exit ? undefined : interrupted)), interrupted]);
  } finally {
    ending.abort();
    await cluster.stop();
    remove();
  }
}

interface Telling {
  readonly options: Options;
  readonly folder: string;
  readonly cluster: Cluster;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

async function tell({ options, folder, cluster, output, signal }: Telling): Promise<void> {
  const rings = path.join(folder, 'rings');
  const teller = narrator(output);
  const builder = ringBuilder({
    rings,
    environment: { RING_BUILDER_KEYS: path.join(folder, 'keys') },
    signal,
    announce: (args) => teller.command(args),
    say: (line) => teller.say(line),
  });
  const cities = await readCities(options.records);
  const { partitions } = options;
  const end = await tellStory({ cluster, builder, narrator: teller, cities, partitions });
  report(end, options);
  if (options.exit) return;
  const sampleKey = must(cities.entries[0], 'records').key;
  const surroundings = { rings, folder, sampleKey, columns: columnsOf(output) };
  output.write(`${commandsPage({ ...surroundings, ...aliveAndDead(cluster, end) }).join('\n')}\n`);
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
): { port: number; ringVersion: number; revive: readonly string[] } {
  const alive = must(
    cluster.servers.find((server) => server.isRunning),
    'a server is running',
  );
  const revive = serverArguments(victim.place);
  return { port: alive.place.port, ringVersion: figures.ringVersion, revive };
}

/**
 * Resolves when `first` has done its work after the first signal. A second one ends the program at
 * once, after `again`. Both with the exit code of an interrupted program.
 */
function endOnSignal(work: {
  readonly first: () => Promise<void>;
  readonly again: () => void;
}): Promise<void> {
  return new Promise((resolve) => {
    let isEnding = false;
    const onSignal = (): void => {
      if (isEnding) {
        work.again();
        process.exit();
      }
      isEnding = true;
      process.exitCode ??= EXIT_INTERRUPTED;
      work.first().then(resolve, resolve);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
}
