// Tables for people: columns as wide as their widest cell, numbers right-aligned. Pure.

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string | number;
  /** Absent: aligned right if all cells are numbers. */
  readonly isRight?: boolean;
}

/** Returns no lines without rows: the heads of an empty table say nothing. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const heads = columns.map(({ head }) => head);
  const right = columns.map(
    ({ isRight }, at) => isRight ?? cells.every((row) => typeof row[at] === 'number'),
  );
  const widths = heads.map((head, at) =>
    cells.reduce((width, row) => Math.max(width, String(row[at]).length), head.length),
  );
  const line = (row: readonly (string | number)[]): string =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        return right[at] ? String(cell).padStart(width) : String(cell).padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [line(heads), ...cells.map(line)];
}
