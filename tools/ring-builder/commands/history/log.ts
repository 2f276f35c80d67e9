// ring-builder log: who did what, when and why; newest first.
import { counted } from '@ringwright/base/counted';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { usage } from '../../cli/arguments.ts';
import { type Command, flagOption, textOption } from '../../cli/command.ts';
import { parseTime } from '../../cli/parse-time.ts';
import { guardLines } from '../../versions/version-story.ts';
import { readStat, type VersionStat } from './version-stat.ts';

export const command: Command = {
  options: {
    limit: textOption('most entries to show', { alias: 'n' }),
    commands: flagOption('also show the commands that were staged'),
    stat: flagOption('also show devices and slots of each version'),
    author: textOption('only entries of this author: alice, or alice@db1'),
    device: textOption('only versions that changed this device or moved its slots: d3'),
    since: textOption('only entries from then on: 2026-11-21, 2026-11-21T08:00 (UTC), 36h, 7d'),
    until: textOption('only entries up to then, in the same forms'),
  },
  examples: [
    ['$0 log cities -n 10', 'the last ten entries'],
    ['$0 log cities --device d3 --since 7d --stat', 'what happened to d3 in the last week'],
    ['$0 log cities --commands', 'with the commands as they were typed'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const history = await readLog(context.rings, ring);
    const folder = ringFolder(context.rings, ring);
    const all = history.toReversed();
    const author = args.optionalText('author');
    const [since, until] = ['since', 'until'].map((name) => {
      const typed = args.optionalText(name);
      return typed === undefined ? undefined : parseTime(typed, context.nowMs(), `--${name}`);
    });
    const byHead = all.filter(({ user, time }) => {
      const ms = Date.parse(time);
      return (
        (author === undefined || isBy(user, author)) &&
        ms >= (since ?? 0) &&
        ms <= (until ?? Infinity)
      );
    });
    const limit = args.optionalNumber('limit') ?? all.length;
    const device = deviceOption(args.optionalText('device'));
    const withStat = args.flag('stat') || device !== null;
    const entries: (LogEntry & { stat?: VersionStat })[] = [];
    for (const entry of byHead) {
      if (entries.length >= limit) break;
      const stat = withStat && makesVersion(entry) ? await readStat(folder, history, entry) : null;
      if (device !== null && !(stat?.touched.includes(device) ?? false)) continue;
      entries.push(stat === null ? entry : { ...entry, stat });
    }
    const lines = entries.flatMap((entry) =>
      printEntry(entry, { commands: args.flag('commands') }),
    );
    const emptyLine =
      all.length === 0 ? `ring ${ring} has no committed version yet` : 'no entry matches';
    return {
      json: { ring, entries },
      lines: lines.length === 0 ? [emptyLine] : lines,
      quotes: true,
      next: context.next(`${nextAfter(all.filter(makesVersion).length)} ${ring}`),
    };
  },
};

/** The first version differs from nothing. */
function nextAfter(versions: number): string {
  if (versions === 0) return 'status';
  return versions === 1 ? 'show' : 'diff';
}

/** An author without a machine matches that person on any machine. */
function isBy(user: string, author: string): boolean {
  return user === author || user.startsWith(`${author}@`);
}

function deviceOption(typed: string | undefined): number | null {
  if (typed === undefined) return null;
  const id = /^d?(\d{1,9})$/.exec(typed)?.[1];
  // An id always names the same device; an address may have belonged to another one.
  if (id === undefined) throw usage(`--device ${typed} is not a device id`, 'write it as d3');
  return Number(id);
}

function printEntry(
  entry: LogEntry & { readonly stat?: VersionStat },
  options: { readonly commands: boolean },
): string[] {
  const { kind, version, id, time, user, message, moves, commands, details, stat } = entry;
  // The log has entries of kind `prune` for both; one with an archive folder was an `archive`.
  const typed = kind === 'prune' && typeof details['archive'] === 'string' ? 'archive' : kind;
  const what = makesVersion(entry) ? `${kind}  ${counted(moves, 'move')}` : typed;
  const head = `v${version}  ${id.slice(0, 12)}  ${time}  ${user}  ${what}`;
  return [
    `${head}  ${message}`.trimEnd(),
    ...guardLines(entry).map((line) => `    ${line}`),
    ...(options.commands ? commands.map((command) => `    ${command}`) : []),
    ...(stat === undefined ? [] : stat.lines.map((line) => `    ${line}`)),
  ];
}
