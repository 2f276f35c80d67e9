// ring-builder log: who did what when and why, newest first.
import { readLog } from '@ringwright/repository/read-log';
import { flag, optionalNumber, text } from '../arguments.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  options: {
    limit: { alias: 'n', type: 'string', requiresArg: true, describe: 'at most so many entries' },
    commands: { type: 'boolean', default: false, describe: 'with the commands that were staged' },
  },
  examples: [
    ['$0 log cities -n 10', 'the last ten entries'],
    ['$0 log cities --commands', 'with the commands as they were typed'],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const all = (await readLog(context.rings, ring)).toReversed();
    const entries = all.slice(0, Math.max(0, optionalNumber(args, 'limit') ?? all.length));
    const withCommands = flag(args, 'commands');
    const lines = entries.flatMap((entry) => {
      const { kind, version, id, time, user, message, moves, commands } = entry;
      const head = `v${version}  ${id.slice(0, 12)}  ${time}  ${user}  ${kind}  ${moves} moves`;
      const typed = withCommands ? commands.map((command) => `    ${command}`) : [];
      return [`${head}  ${message}`.trimEnd(), ...typed];
    });
    return {
      json: { ring, entries },
      lines: lines.length === 0 ? [`ring ${ring} has no committed version yet`] : lines,
      next: context.next(all.length === 0 ? `status ${ring}` : `diff ${ring}`),
    };
  },
};
