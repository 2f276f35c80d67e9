// Draws a comparison as SVG: one row per scheme, with bars for figures where less is better. Pure.
import type { Comparison, SchemeFigures } from '@ringwright/builder/compare/compare-schemes';

interface Column {
  readonly title: string;
  readonly color: string;
  readonly value: (scheme: SchemeFigures) => number;
  readonly label: (value: number) => string;
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const columns: readonly Column[] = [
  {
    title: 'fullest node above the mean',
    color: '#4477aa',
    value: ({ evenness }) => evenness - 1,
    label: (value) => `+${percent(value)}`,
  },
  {
    title: 'copies that a join moves',
    color: '#228833',
    value: ({ join }) => join.moved,
    label: percent,
  },
  {
    title: 'copies that a leave moves',
    color: '#ccbb44',
    value: ({ leave }) => leave.moved,
    label: percent,
  },
  {
    title: 'stores scanned for both',
    color: '#ee6677',
    value: ({ join, leave }) => join.scanned.length + leave.scanned.length,
    label: String,
  },
];

const [nameWidth, columnWidth, rowHeight, top] = [220, 200, 30, 74];
const barWidthMax = 120;

export function comparisonPicture(
  { nodes, replicas, partitions, keys }: Comparison,
  schemes: readonly SchemeFigures[],
): string {
  const width = nameWidth + columns.length * columnWidth;
  const height = top + schemes.length * rowHeight + 16;
  const caption = `${nodes} nodes, ${replicas} replicas, ${partitions} partitions, ${keys} keys`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>Ways to place data, side by side</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    textAt(12, 26, `${caption}; a node joins, then one leaves`),
    ...columns.map(({ title }, at) => textAt(nameWidth + at * columnWidth, 56, title)),
    ...schemes.flatMap((scheme, row) => [
      textAt(12, top + row * rowHeight + 16, scheme.name),
      ...columns.flatMap((column, at) => barOf(column, { at, row, scheme, schemes })),
    ]),
    '</svg>',
    '',
  ].join('\n');
}

function barOf(
  { color, value, label }: Column,
  {
    at,
    row,
    scheme,
    schemes,
  }: {
    readonly at: number;
    readonly row: number;
    readonly scheme: SchemeFigures;
    readonly schemes: readonly SchemeFigures[];
  },
): string[] {
  const most = Math.max(...schemes.map(value));
  const length = most === 0 ? 0 : (barWidthMax * value(scheme)) / most;
  const [x, y] = [nameWidth + at * columnWidth, top + row * rowHeight];
  return [
    `<rect x="${x}" y="${y}" width="${length.toFixed(1)}" height="${rowHeight - 10}" fill="${color}"/>`,
    textAt(x + Math.ceil(length) + 6, y + 15, label(value(scheme))),
  ];
}

function textAt(x: number, y: number, text: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" fill="#222222">${safe}</text>`;
}
