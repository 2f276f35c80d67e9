// Program of `npm start`: a local cluster on real data, and a ring change under traffic.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { printableLines } from '@ringwright/base/printable';
import { messageOf } from '@ringwright/base/thrown';
import { readCities } from './cities.ts';
import { Cluster } from './cluster.ts';
import { findProblems } from './figures.ts';
import { columnsOf, narrator } from './narrator.ts';
import { type Options, parseOptions } from './options.ts';
import { changeRows, commandsPage, figuresPage, type Rows, securedCommandsPage } from './page.ts';
import { ringBuilder } from './ring-builder.ts';
import { findSecureProblems, secureRows } from './secure-figures.ts';
import { securedFiles, tellSecureStory } from './secure-story.ts';
import { serverArguments } from './server-process.ts';
import { type Ending, type Stage, tellStory } from './story.ts';

const EXIT_NOT_IN_ORDER = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

try {
  await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  if (process.exitCode !== EXIT_INTERRUPTED) {
    const text = messageOf(error);
    process.stderr.write(printableLines(`\nlocal-cluster: ${text}\n`));
    if (error instanceof CodedError && error.hint !== '') {
      process.stderr.write(printableLines(`${error.hint}\n`));
    }
    process.exitCode = error instanceof CodedError ? error.exit : EXIT_USAGE;
  }
}
// Sockets of an application that failed must not keep the program alive.
process.exit();

async function run(options: Options): Promise<void> {
  const ports = await Cluster.findPorts();
  // No await between here and the signal handlers, so that the folder is always removed.
  const folder = options.data ?? fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-'));
  fs.mkdirSync(folder, { recursive: true });
  const cluster = new Cluster(folder, ports);
  const ending = new AbortController();
  const output = options.json ? process.stderr : process.stdout;
  const remove = (): void => {
    // A command that was stopped may still be writing, so the removal is retried.
    if (options.data === null) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const interrupted = endOnSignal({
    first: async () => {
      const files = options.data === null ? 'all files are deleted' : `files stay in ${folder}`;
      output.write(`\nStopping the servers; ${files}. Press Ctrl-C again to kill them.\n`);
      ending.abort();
      await (options.data === null ? cluster.killHard() : cluster.stop());
      remove();
    },
    again: () => {
      cluster.killNow();
      remove();
    },
  });
  const demo = tell({ options, folder, cluster, output, signal: ending.signal });
  try {
    await Promise.race([demo.then(() => (options.exit ? undefined : interrupted)), interrupted]);
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
  // A keys folder of its own, and the author's name.
  const environment: Record<string, string> = {
    RINGWRIGHT_AUTHOR: 'ada',
    RING_BUILDER_KEYS: path.join(folder, 'keys'),
  };
  const builder = ringBuilder({
    rings,
    environment,
    signal,
    announce: (args) => teller.command(args),
    say: (line) => teller.say(line),
  });
  const cities = await readCities(options.records);
  const { partitions, secure } = options;
  const stage = { cluster, builder, narrator: teller, cities, partitions };
  const sampleKey = must(cities.entries[0], 'records').key;
  const surroundings = { rings, folder, sampleKey, columns: columnsOf(output) };
  const outcome = secure
    ? await tellSecured(stage, { ...surroundings, environment })
    : await tellChange(stage, surroundings);
  report(outcome, options);
  if (options.exit) return;
  output.write(`${outcome.commands.join('\n')}\n`);
}

interface StoryReport {
  readonly figures: object;
  readonly rows: Rows;
  readonly problems: readonly string[];
  readonly wrong: readonly string[];
  /** Commands that a person may type now. */
  readonly commands: readonly string[];
}

type Place = Pick<Parameters<typeof commandsPage>[0], 'rings' | 'folder' | 'sampleKey' | 'columns'>;

async function tellChange(stage: Stage, surroundings: Place): Promise<StoryReport> {
  const end = await tellStory(stage);
  const { figures, wrong } = end;
  const commands = commandsPage({ ...surroundings, ...aliveAndDead(stage.cluster, end) });
  const rows = changeRows(figures);
  return { figures, rows, problems: findProblems(figures), wrong, commands };
}

async function tellSecured(
  stage: Stage,
  surroundings: Place & { readonly environment: Record<string, string> },
): Promise<StoryReport> {
  const files = securedFiles(surroundings.folder);
  const { environment } = surroundings;
  const { figures, wrong } = await tellSecureStory({ ...stage, files, environment });
  const { port } = must(stage.cluster.servers[0], 'three servers').place;
  const { authority, nextShop: token } = files;
  const commands = securedCommandsPage({ ...surroundings, port, authority, token });
  const rows = secureRows(figures);
  return { figures, rows, problems: findSecureProblems(figures), wrong, commands };
}

function report({ figures, rows, problems, wrong }: StoryReport, { json }: Options): void {
  const ok = problems.length === 0;
  if (!ok) process.exitCode = EXIT_NOT_IN_ORDER;
  const page = [...figuresPage(rows, problems), ...wrong.slice(0, 10)].join('\n');
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
 * Resolves when `first` has finished after the first signal. A second signal calls `again` and ends
 * the program at once. Both set the exit code of an interrupted program.
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
