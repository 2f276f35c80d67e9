// Prints the result of a run: figures, then violations and how to replay them. Pure.
import { counted } from '@ringwright/base/counted';
import { isAcked } from '../../test/support/history.ts';
import type { Operation } from '../../test/support/history-operation.ts';
import { meetsAny } from './coverage-gaps.ts';
import type { FaultWindow } from './stage.ts';
import type { RunResult } from './torture-run.ts';

/** Maximum number of violations printed; the history has the others. */
const VIOLATIONS_SHOWN = 20;

interface PrintOptions {
  /** The command that repeats the run. */
  readonly replay: string;
  readonly json: boolean;
  readonly kept: boolean;
}

export function printRun(result: RunResult, { replay, json, kept }: PrintOptions): string {
  const figures = figuresOf(result);
  const folder = kept ? result.folder : null;
  if (json) {
    const { violations, gaps, notes } = result;
    return `${JSON.stringify({ ok: isCleanRun(result), replay, folder, ...figures, notes, violations, gaps })}\n`;
  }
  const lines = [
    `operations   ${print(figures.outcomes)}`,
    `faults       ${print(figures.faults)}`,
    `failpoints   ${print(figures.failpoints)}`,
    `latency      p50 ${figures.p50Ms} ms, p99 ${figures.p99Ms} ms; in faults p99 ${figures.p99MsInFaults} ms`,
    ...result.notes,
    ...result.violations.slice(0, VIOLATIONS_SHOWN),
    ...result.gaps,
    isCleanRun(result) ? 'clean: every promise was kept' : `${verdict(result)}; again: ${replay}`,
    ...(folder === null ? [] : [`data, logs and history: ${folder}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether no promise was broken and every planned event happened. */
export function isCleanRun({ violations, gaps }: Pick<RunResult, 'violations' | 'gaps'>): boolean {
  return violations.length === 0 && gaps.length === 0;
}

function verdict({ violations }: RunResult): string {
  if (violations.length > 0) return `broken: ${counted(violations.length, 'violation')}`;
  return 'every promise was kept, but the run covered too little';
}

function figuresOf({ operations, faults, fired, seconds }: RunResult) {
  const acked = operations.filter(isAcked);
  const [ackedInFaults, ackedOutside] = split(acked, faults);
  return {
    seconds: Math.round(seconds),
    outcomes: countBy(operations, ({ outcome }) => outcome),
    faults: countBy(faults, ({ name }) => name.split(' at ')[0] ?? name),
    failpoints: countBy(fired, (name) => name),
    p50Ms: quantile(ackedOutside, 0.5),
    p99Ms: quantile(ackedOutside, 0.99),
    p99MsInFaults: quantile(ackedInFaults, 0.99),
  };
}

function split(operations: readonly Operation[], faults: readonly FaultWindow[]) {
  const groups = Map.groupBy(operations, meetsAny(faults));
  return [groups.get(true) ?? [], groups.get(false) ?? []] as const;
}

function quantile(operations: readonly Operation[], share: number): number {
  const times = operations.map(({ invokedMs, returnedMs }) => returnedMs - invokedMs);
  times.sort((a, b) => a - b);
  return Math.round(times[Math.floor(share * times.length)] ?? 0);
}

function countBy<T>(items: readonly T[], name: (item: T) => string): Record<string, number> {
  const groups = Object.entries(Object.groupBy(items, name));
  return Object.fromEntries(groups.map(([group, all]) => [group, all?.length ?? 0]));
}

function print(counts: Readonly<Record<string, number>>): string {
  const args = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return args.length === 0 ? '-' : args.join(', ');
}
