// What the benchmark of the builder prints: one line per step. Pure.

export interface StepFigures {
  readonly scenario: string;
  readonly step: string;
  /** Of the slowest call. */
  readonly seconds: number;
  readonly cpu: number;
  readonly waves: number;
  readonly moved: number;
  readonly bound: number;
  /** Null when no proof was found. */
  readonly optimum: number | null;
  /** Largest deviation of a device or tier from its share, in slots; null in the largest cases. */
  readonly worst: number | null;
  /** Slots beyond dispersion caps that need not be there. */
  readonly over: number | null;
  /** Variance of pair counts, 1 is chance. */
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

const heads = [
  'case',
  'step',
  'seconds',
  'cpu',
  'moved',
  'bound',
  'optimum',
  'waves',
  'off',
  'over',
  'spread',
  'MB',
  'Swift cpu',
  'x',
  'Swift moved',
  'x',
];

export function tableLines(
  rows: readonly StepFigures[],
  swift: ReadonlyMap<string, SwiftFigures>,
): string[] {
  const cells = rows.map((row) => [...ownCells(row), ...swiftCells(row, swift)]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return [heads, ...cells].map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column < 2 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function ownCells(row: StepFigures): string[] {
  const { scenario, step, seconds, cpu, moved, bound, optimum, waves, worst, over, spread } = row;
  return [
    scenario,
    step,
    seconds.toFixed(3),
    cpu.toFixed(3),
    `${moved}`,
    `${bound}`,
    shown(optimum, 0),
    `${waves}`,
    shown(worst, 2),
    shown(over, 0),
    shown(spread, 3),
    row.rssMb.toFixed(0),
  ];
}

/** Ratios say how many times more Swift takes, and moves. */
function swiftCells(row: StepFigures, swift: ReadonlyMap<string, SwiftFigures>): string[] {
  const other = swift.get(`${row.scenario} ${row.step}`);
  if (other === undefined) return ['', '', '', ''];
  const moved = row.moved === 0 ? '' : (other.moved / row.moved).toFixed(2);
  return [other.cpu.toFixed(2), (other.cpu / row.cpu).toFixed(0), `${other.moved}`, moved];
}

function shown(value: number | null, digits: number): string {
  return value === null ? '-' : value.toFixed(digits);
}
