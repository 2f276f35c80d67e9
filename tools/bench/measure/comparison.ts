// One line of a benchmark's table: a figure, the figure to compare with, and the aim. Pure.
import { printTable } from '@ringwright/base/print-table';

/** `atLeast` or `atMost`: limit of the ratio if there is a figure beside, else of the figure. */
export type Aim = { readonly atLeast: number } | { readonly atMost: number };

export interface Comparison {
  readonly section: string;
  readonly what: string;
  readonly unit: string;
  readonly figure: number;
  readonly beside: { readonly name: string; readonly figure: number } | null;
  readonly ratio: number | null;
  readonly aim: Aim | null;
  /** Null without an aim, and when the peer is not installed. */
  readonly met: boolean | null;
  /** Why a figure is missing, or a remark on it. */
  readonly note: string;
}

type Given = Pick<Comparison, 'section' | 'what' | 'unit' | 'figure'> &
  Partial<Pick<Comparison, 'beside' | 'aim' | 'note'>>;

export function comparison(measured: Given): Comparison {
  const { beside = null, aim = null, note = '' } = measured;
  const ratio = beside === null || beside.figure === 0 ? null : measured.figure / beside.figure;
  return { ...measured, beside, ratio, aim, met: metBy(ratio ?? measured.figure, aim), note };
}

/** Returns a figure without peer; the line says which peer is missing. */
export function withoutPeer(measured: Given, peer: string): Comparison {
  const note = `${peer} is not installed`;
  return { ...comparison({ ...measured, beside: null, note }), met: null };
}

function metBy(value: number, aim: Aim | null): boolean | null {
  if (aim === null) return null;
  return 'atLeast' in aim ? value >= aim.atLeast : value <= aim.atMost;
}

export function tableLines(rows: readonly Comparison[]): string[] {
  return printTable(rows, [
    { head: 'section', cell: ({ section }) => section },
    { head: 'what', cell: ({ what }) => what },
    { head: 'figure', isRight: true, cell: ({ figure }) => shown(figure) },
    { head: 'unit', cell: ({ unit }) => unit },
    { head: 'beside', isRight: true, cell: ({ beside }) => (beside ? shown(beside.figure) : '') },
    { head: '', cell: ({ beside }) => beside?.name ?? '' },
    { head: 'ratio', isRight: true, cell: ({ ratio }) => ratio?.toFixed(2) ?? '' },
    { head: 'aim', isRight: true, cell: ({ aim }) => (aim === null ? '' : aimText(aim)) },
    { head: 'met', cell: ({ met }) => (met === null ? '' : met ? 'yes' : 'NO') },
    { head: '', cell: ({ note }) => note },
  ]);
}

function aimText(aim: Aim): string {
  return 'atLeast' in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`;
}

function shown(figure: number): string {
  if (Math.abs(figure) >= 100) return Math.round(figure).toLocaleString('en');
  return figure.toFixed(2);
}
