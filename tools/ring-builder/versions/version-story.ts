// Tells from the log and the file of a version how it was made. Pure.

import { counted } from '@ringwright/base/counted';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import type { Lines } from '../cli/command.ts';
import { describeChange } from './stage-command.ts';

const STAGED_SHOWN_MAX = 20;

/** Returns author, time, message, commands, what these staged, and the change guard's verdict. */
export function madeLines(
  entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'commands' | 'details'>,
  content: { readonly staged: readonly Change[] | null; readonly state: BuilderState | null },
): Lines {
  return [
    `${entry.time} ${entry.user}: ${entry.message}`,
    ...entry.commands.map((command) => `    ${command}`),
    ...stagedLines(content.staged, content.state),
    ...guardLines(entry),
  ];
}

/** Says why the version was large and what let it pass; empty for other versions. */
export function guardLines({ details }: Pick<LogEntry, 'details'>): string[] {
  const { large, override } = details;
  if (typeof large !== 'string') return [];
  const passText =
    typeof override === 'string' ? `override: ${override}` : 'two people must sign it';
  return [`large change, ${large}; ${passText}`];
}

/** Lists staged changes, which commands such as --from FILE do not show. */
function stagedLines(staged: readonly Change[] | null, state: BuilderState | null): Lines {
  if (staged === null || state === null) return [];
  const hidden = staged.length - STAGED_SHOWN_MAX;
  return [
    ...staged
      .slice(0, STAGED_SHOWN_MAX)
      .map((change) => `        ${describeChange(change, state)}`),
    hidden > 0 && `        … and ${counted(hidden, 'change')} more: --json lists them`,
  ];
}
