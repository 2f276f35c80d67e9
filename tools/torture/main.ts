// Program: real servers under faults and load; then what they promised is checked.
//     npm run torture -- --minutes 20 --seed 7 --nemesis k,s,p,c,d
import fs from 'node:fs/promises';
import { nemeses } from './nemeses/all.ts';
import { type Options, parseOptions } from './options.ts';
import { printRun } from './print-run.ts';
import { tortureRun } from './torture-run.ts';

/** Usage or bad input, as in all programs here. */
const USAGE_EXIT = 2;
const VIOLATED_EXIT = 1;

async function main(options: Options): Promise<void> {
  const { seed, seconds, servers, nemesis, json, keep } = options;
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const letters = nemesis.join(',');
  say(`${servers} servers, ${seconds} s of ${letters}, seed ${seed}`);
  const result = await tortureRun({
    seed,
    seconds,
    servers,
    nemeses: nemeses.filter(({ letter }) => nemesis.includes(letter)),
    patches: [],
    onProgress: say,
  });
  const isClean = result.violations.length === 0;
  if (isClean && !keep) await fs.rm(result.folder, { recursive: true, force: true });
  const words = ['--minutes', seconds / 60, '--seed', seed, '--nemesis', letters];
  const replay = `npm run torture -- ${words.join(' ')} --servers ${servers}`;
  process.stdout.write(printRun(result, { replay, json, kept: !isClean || keep }));
  if (!isClean) process.exitCode = VIOLATED_EXIT;
}

let options: Options | null = null;
try {
  options = parseOptions(
    process.argv.slice(2),
    nemeses.map(({ letter }) => letter),
  );
} catch (error) {
  process.stderr.write(`torture: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = USAGE_EXIT;
}
if (options !== null) await main(options);
