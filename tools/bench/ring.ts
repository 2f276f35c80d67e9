#!/usr/bin/env node
// Program: runs the builder on the clusters of scenarios/, beside Swift's builder if installed:
// npm run bench:ring -- --help
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { must } from '@ringwright/base/assert';
import { benchOptions, refuse } from './measure/bench-options.ts';
import { machine } from './measure/machine.ts';
import { growthNames, largeNames, scenarioPath, smallNames } from './ring/ring-scenario.ts';
import {
  type FileFigures,
  type StepFigures,
  type SwiftFigures,
  tableLines,
} from './ring/ring-table.ts';

/** Debian's Python, which includes Swift's library. */
const PYTHON = '/usr/bin/python3';
/** After this long, a case starts no further step in Swift. */
const SWIFT_SECONDS = 120;

const cases = [...smallNames, ...largeNames, ...growthNames];

const values = benchOptions({
  name: 'ring',
  usage: `npm run bench:ring -- [options]

Builds and changes the rings of many clusters, beside Swift's builder where it is installed.
  --only NAME     a case; may be repeated: ${cases.join(', ')}
  --large         also 2^23 partitions on 4,000 devices and 2^24 on 10,000
  --growth        also the same devices with more and more partitions
  --partitioner P md5-shift (default), hash-intervals or random-intervals
  --no-swift      without Swift's builder
  --json          one JSON document on standard output
Example: npm run bench:ring -- --only S1 --no-swift`,
  options: {
    large: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    partitioner: { type: 'string', default: 'md5-shift' },
    json: { type: 'boolean', default: false },
    'no-swift': { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
  },
});

type Line = StepFigures | FileFigures | { readonly scenario: string; readonly refused: string };

const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function run(): Promise<void> {
  const unknown = values.only.find((name) => !cases.includes(name));
  if (unknown !== undefined) refuse('ring', `no case '${unknown}'`);
  const names = values.only.length > 0 ? values.only : smallNames;
  const chosen = [
    ...names,
    ...(values.large ? largeNames : []),
    ...(values.growth ? growthNames : []),
  ];
  const lines: Line[] = [];
  for (const name of chosen) {
    tell(`${name} …`);
    lines.push(
      ...((await program(process.execPath, ['ring-case.ts', name, values.partitioner])) as Line[]),
    );
  }
  const swift = values['no-swift'] ? [] : await runSwift(names);
  print(lines, swift);
}

async function runSwift(names: readonly string[]): Promise<SwiftFigures[]> {
  const probe = await program(PYTHON, ['-c', 'import swift.common.ring; print("true")']);
  if (probe[0] !== true) {
    tell('Swift is not installed (Debian package swift): no ratios');
    return [];
  }
  const found: SwiftFigures[] = [];
  for (const name of names) {
    if (!fs.existsSync(scenarioPath(name))) continue;
    tell(`${name} in Swift …`);
    const args = ['ring-swift.py', scenarioPath(name), `${SWIFT_SECONDS}`];
    found.push(...((await program(PYTHON, args)) as SwiftFigures[]));
  }
  return found;
}

/** Returns the JSON lines that a program prints; passes on its stderr. */
async function program(file: string, args: readonly string[]): Promise<unknown[]> {
  const child = spawn(file, args, {
    cwd: path.join(import.meta.dirname),
    stdio: ['ignore', 'pipe', args.includes('-c') ? 'ignore' : 'inherit'],
  });
  child.once('error', () => undefined); // not installed: it prints nothing
  const printed = await text(must(child.stdout, 'it has a pipe')).catch(() => '');
  return printed.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

function print(lines: readonly Line[], swift: readonly SwiftFigures[]): void {
  const { cpu, cores } = machine;
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ machine: { cpu, cores }, ours: lines, swift }, null, 1)}\n`,
    );
    return;
  }
  const steps = lines.filter((line): line is StepFigures => 'step' in line);
  const bySteps = new Map(swift.map((row) => [`${row.scenario} ${row.step}`, row]));
  process.stdout.write(`${cores} cores, ${cpu}, node ${process.version}\n`);
  for (const line of tableLines(steps, bySteps)) process.stdout.write(`${line}\n`);
  for (const line of lines) {
    if ('refused' in line) process.stdout.write(`${line.scenario}: refused, ${line.refused}\n`);
    if (!('file' in line)) continue;
    const { mb, writeMs, readMs } = line.file;
    const sizes = `${mb.toFixed(2)} MB, written in ${writeMs.toFixed(0)} ms, read in`;
    process.stdout.write(`${line.scenario} ring file: ${sizes} ${readMs.toFixed(0)} ms\n`);
  }
}

await run();
