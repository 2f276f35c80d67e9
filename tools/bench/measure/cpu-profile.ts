// Summarizes CPU profiles of node --cpu-prof: functions by self time.
import fs from 'node:fs/promises';
import path from 'node:path';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const linesMax = 30;
/** V8's names for time in which no function ran. */
const idle: ReadonlySet<string> = new Set(['(idle)', '(root)']);

/** Returns the functions of all profiles in a folder that took most of the busy time. */
export async function profileLines(folder: string): Promise<string[]> {
  const files = (await fs.readdir(folder)).filter((file) => file.endsWith('.cpuprofile'));
  const spent = new Map<string, number>();
  for (const file of files) {
    const profile = JSON.parse(await fs.readFile(path.join(folder, file), 'utf8')) as Profile;
    addSelfTimes(profile, spent);
  }
  const busy = [...spent].filter(([name]) => !idle.has(name)).sort(([, a], [, b]) => b - a);
  const all = busy.reduce((sum, [, us]) => sum + us, 0);
  const share = (us: number): string => `${((100 * us) / all).toFixed(1)} %`.padStart(8);
  return [
    `self time in ${files.length} profiles, ${(all / 1e6).toFixed(1)} s busy`,
    ...busy.slice(0, linesMax).map(([name, us]) => `${share(us)}  ${name}`),
  ];
}

function addSelfTimes({ nodes, samples, timeDeltas }: Profile, spent: Map<string, number>): void {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const sourcePath = url.replace(/^.*\/(?=(?:node_modules|packages|tools)\/)/, '');
      const name = functionName === '' ? '(anonymous)' : functionName;
      return [id, sourcePath === '' ? name : `${name} ${sourcePath}:${lineNumber + 1}`];
    }),
  );
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '(unknown)';
    spent.set(name, (spent.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
}
