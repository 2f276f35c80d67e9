// Program: runs real servers under faults and load, then checks what they promised.
//     npm run torture -- --minutes 20 --seed 7 --nemesis k,s,p,c,d
import { messageOf } from '@ringwright/base/thrown';
import { seededBugs } from './bugs/all.ts';
import { patchesOf, type SeededBug } from './bugs/seeded-bug.ts';
import { archive } from './nemeses/archive.ts';
import { clock } from './nemeses/clock.ts';
import { disk } from './nemeses/disk.ts';
import { kill } from './nemeses/kill.ts';
import { part } from './nemeses/part.ts';
import { pause } from './nemeses/pause.ts';
import { rings } from './nemeses/rings.ts';
import { rotate } from './nemeses/rotate.ts';
import type { Nemesis } from './nemesis.ts';
import { type Options, parseOptions } from './options.ts';
import { isCleanRun, printRun } from './print-run.ts';
import { checkPatches } from './source-patches.ts';
import { removeRun, tortureRun } from './torture-run.ts';
import { type BugTrial, printTrials, tryBug } from './try-bugs.ts';
import { tuning } from './tuning.ts';

/** As in all programs here: 1 for a negative result, 2 for usage or bad input. */
const VIOLATED_EXIT = 1;
const USAGE_EXIT = 2;
/** Some bugs show right after the faults, others need a rare moment: each try is longer. */
const CHANCE_SECONDS = [20, 60, 90];
/** One play suffices, however slow the machine. The run ends with the first violation. */
const SCENARIO_SECONDS = [60, 90];

/** By letter of `--nemesis`. */
const nemeses = new Map<string, Nemesis>(
  Object.entries({ k: kill, s: pause, p: part, c: clock, d: disk, rings, a: archive }),
);

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function torture(options: Options, bug: SeededBug | null): Promise<void> {
  const { seed, seconds, servers, nemesis, secure, sound, json, keep } = options;
  const letters = nemesis.join(',');
  say(`${servers} servers, ${seconds} s of ${bug?.name ?? letters}, seed ${seed}`);
  const result = await tortureRun({
    seed,
    seconds,
    servers,
    nemeses: bug?.nemeses ?? [
      ...[...nemeses].filter(([letter]) => nemesis.includes(letter)).map(([, one]) => one),
      ...(secure ? [rotate] : []),
    ],
    isSecured: secure,
    patches: sound || bug === null ? [] : patchesOf(bug),
    endsEarly: bug !== null,
    onProgress: say,
  });
  const isClean = isCleanRun(result);
  if (isClean && !keep) await removeRun(result.folder);
  const faults =
    bug === null ? ['--nemesis', letters] : ['--bug', bug.name, ...(sound ? ['--sound'] : [])];
  const secured = secure ? ['--secure'] : [];
  const many = ['--minutes', seconds / 60, '--seed', seed, '--servers', servers];
  const args = [...many, ...faults, ...secured];
  const replay = `npm run torture -- ${args.join(' ')}`;
  process.stdout.write(printRun(result, { replay, json, kept: !isClean || keep }));
  if (!isClean) process.exitCode = VIOLATED_EXIT;
}

async function tryAll({ seed, json }: Options): Promise<void> {
  const trials: BugTrial[] = [];
  for (const bug of seededBugs) {
    say(`${bug.name}: ${bug.about}`);
    const isScenario = bug.nemeses.some((nemesis) => nemesis.isAlone);
    const seconds = isScenario ? SCENARIO_SECONDS : CHANCE_SECONDS;
    const shape = { seed, seconds, onProgress: () => undefined };
    trials.push(await tryBug(bug, shape));
    say(`  ${trials.at(-1)?.found ?? 'missed'}`);
  }
  process.stdout.write(json ? `${JSON.stringify({ seed, trials })}\n` : printTrials(trials));
  if (trials.some(({ found }) => found === null)) process.exitCode = VIOLATED_EXIT;
}

async function main(args: readonly string[]): Promise<void> {
  const letters = [...nemeses.keys()];
  const bugNames = seededBugs.map(({ name }) => name);
  const options = parseOptions(args, { letters, bugNames });
  // Checks the patches of all bugs each time: a bug that no longer fits the sources proves nothing.
  for (const one of seededBugs) checkPatches([...tuning, ...patchesOf(one)]);
  const bug = seededBugs.find(({ name }) => name === options.bug) ?? null;
  await (options.bugs ? tryAll(options) : torture(options, bug));
}

// An exit kills the running servers; a signal alone would leave them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main(process.argv.slice(2)).catch((error: unknown) => {
  say(`torture: ${messageOf(error)}`);
  process.exitCode = USAGE_EXIT;
});
