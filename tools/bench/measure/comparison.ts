// One line of a benchmark's table: a figure, what it stands beside, and the aim. Pure.

/** `atLeast` or `atMost`: of the ratio where there is something beside, else of the figure. */
export type Aim = { readonly atLeast: number } | { readonly atMost: number };

export interface Comparison {
  readonly section: string;
  readonly what: string;
  readonly unit: string;
  readonly figure: number;
  readonly beside: { readonly name: string; readonly figure: number } | null;
  readonly ratio: number | null;
  readonly aim: Aim | null;
  /** Null without an aim, and where the peer is not installed. */
  readonly met: boolean | null;
  /** Why a figure is missing, or what to know about it. */
  readonly note: string;
}

type Given = Pick<Comparison, 'section' | 'what' | 'unit' | 'figure'> &
  Partial<Pick<Comparison, 'beside' | 'aim' | 'note'>>;

export function comparison(measured: Given): Comparison {
  const { beside = null, aim = null, note = '' } = measured;
  const ratio = beside === null || beside.figure === 0 ? null : measured.figure / beside.figure;
  return { ...measured, beside, ratio, aim, met: metBy(ratio ?? measured.figure, aim), note };
}

/** A figure whose peer is not there: what is missing is said in the line. */
export function withoutPeer(measured: Given, peer: string): Comparison {
  const note = `${peer} is not installed`;
  return { ...comparison({ ...measured, beside: null, note }), met: null };
}

function metBy(value: number, aim: Aim | null): boolean | null {
  if (aim === null) return null;
  return 'atLeast' in aim ? value >= aim.atLeast : value <= aim.atMost;
}

const heads = ['section', 'what', 'figure', 'unit', 'beside', '', 'ratio', 'aim', 'met', ''];

export function tableLines(rows: readonly Comparison[]): string[] {
  const cells = [heads, ...rows.map(cellsOf)];
  const widths = heads.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = (column: number): boolean => [2, 4, 6, 7].includes(column);
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(row: Comparison): string[] {
  const { section, what, unit, figure, beside, ratio, aim, met, note } = row;
  return [
    section,
    what,
    shown(figure),
    unit,
    beside === null ? '' : shown(beside.figure),
    beside?.name ?? '',
    ratio === null ? '' : ratio.toFixed(2),
    aim === null ? '' : 'atLeast' in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`,
    met === null ? '' : met ? 'yes' : 'NO',
    note,
  ];
}

function shown(figure: number): string {
  if (Math.abs(figure) >= 100) return Math.round(figure).toLocaleString('en');
  return figure.toFixed(2);
}
