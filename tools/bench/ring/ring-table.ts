// The output of the builder's benchmark: one line per step. Pure.
import { printTable } from '@ringwright/base/print-table';

export interface StepFigures {
  readonly scenario: string;
  readonly step: string;
  /** Time of the slowest call. */
  readonly seconds: number;
  readonly cpu: number;
  readonly waves: number;
  readonly moved: number;
  readonly bound: number;
  /** Null when no proof was found. */
  readonly optimum: number | null;
  /** Largest deviation of a device or tier from its share, in slots; null in the largest cases. */
  readonly worst: number | null;
  /** Slots beyond dispersion caps that are avoidable. */
  readonly over: number | null;
  /** Variance of pair counts, relative to chance (1). */
  readonly spread: number | null;
  readonly rssMb: number;
}

export interface FileFigures {
  readonly scenario: string;
  readonly file: { readonly mb: number; readonly writeMs: number; readonly readMs: number };
}

export interface SwiftFigures {
  readonly scenario: string;
  readonly step: string;
  readonly seconds: number;
  readonly cpu: number;
  readonly moved: number;
  readonly balance: number;
  readonly rssMb: number;
}

export function tableLines(
  rows: readonly StepFigures[],
  swift: ReadonlyMap<string, SwiftFigures>,
): string[] {
  const both = rows.map((own) => ({ own, other: swift.get(`${own.scenario} ${own.step}`) }));
  const right = (head: string, cell: (row: (typeof both)[number]) => string) => {
    return { head, cell, isRight: true };
  };
  return printTable(both, [
    { head: 'case', cell: ({ own }) => own.scenario },
    { head: 'step', cell: ({ own }) => own.step },
    right('seconds', ({ own }) => own.seconds.toFixed(3)),
    right('cpu', ({ own }) => own.cpu.toFixed(3)),
    right('moved', ({ own }) => `${own.moved}`),
    right('bound', ({ own }) => `${own.bound}`),
    right('optimum', ({ own }) => shown(own.optimum, 0)),
    right('waves', ({ own }) => `${own.waves}`),
    right('off', ({ own }) => shown(own.worst, 2)),
    right('over', ({ own }) => shown(own.over, 0)),
    right('spread', ({ own }) => shown(own.spread, 3)),
    right('MB', ({ own }) => own.rssMb.toFixed(0)),
    // Ratios: Swift's time and moves relative to ours.
    right('Swift cpu', ({ other }) => other?.cpu.toFixed(2) ?? ''),
    right('x', ({ own, other }) => (other ? (other.cpu / own.cpu).toFixed(0) : '')),
    right('Swift moved', ({ other }) => `${other?.moved ?? ''}`),
    right('x', ({ own, other }) =>
      other && own.moved > 0 ? (other.moved / own.moved).toFixed(2) : '',
    ),
  ]);
}

function shown(value: number | null, digits: number): string {
  return value === null ? '-' : value.toFixed(digits);
}
