// The progress display of a rollout: a line of totals, a bar, and a row for each move. Pure.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { printable } from '@ringwright/base/printable';
import type { Drawing, Screen } from '../cli/display.ts';
import { printBytes, printSeconds } from '../cli/print-bytes.ts';
import type { Line, Style } from '../cli/terminal.ts';
import { bytesLeft, type MoveRate, noMoveRate } from './move-rate.ts';
import { type MoveRow, type MoveStage, moveStages } from './move-rows.ts';

export interface Board {
  readonly ring: string;
  readonly version: number;
  /** The rollout's present step: `version 9: sending to the servers`. */
  readonly doing: string;
  readonly rows: readonly MoveRow[];
  readonly rate: MoveRate;
  /** Moves that this rollout has finished. */
  readonly finished: number;
}

const BAR_CELLS = 24;
/** Moves in one JSON line, most urgent first: all of 65,536 would be 15 MB a second. */
const JSON_MOVES_MAX = 1_000;
/** Moves in a printed list: nobody reads the 39,000 that a join of a wide ring has. */
const LISTED_MOVES_MAX = 1_000;

const colors: Partial<Record<MoveStage, Style>> = {
  failed: 'red',
  paused: 'yellow',
  copying: 'cyan',
  'catching-up': 'cyan',
  verifying: 'cyan',
  available: 'green',
};

export function drawBoard(board: Board): Drawing {
  return {
    onScreen: (screen) => printBoard(board, screen),
    inLine: () => printBoardLine(board),
    inJson: () => jsonLine(board),
  };
}

/** Returns the lines for a terminal, drawn over the previous ones. */
export function printBoard(board: Board, { columns, lines }: Screen): Line[] {
  const { rows } = board;
  const rowsMax = Math.max(1, lines - 4);
  const shown = rows.length > rowsMax ? rows.slice(0, rowsMax - 1) : rows;
  const table = rows.length === 0 ? [] : movesTable(shown, board.rate);
  const more = rows.length - shown.length;
  const plain = [
    `${board.ring} version ${board.version}: ${board.doing}`,
    ...(rows.length === 0 ? [] : [barLine(board)]),
    ...table,
    ...(more > 0 ? [`… ${more} more: ${countStages(rows.slice(shown.length))}`] : []),
  ].map((line) => clipped(printable(line), columns));
  const firstRow = plain.length - shown.length - (more > 0 ? 1 : 0);
  return plain.map((line, at) => {
    const style = at === 0 ? 'bold' : colors[shown[at - firstRow]?.stage ?? 'queued'];
    return style === undefined ? line : { style, text: line };
  });
}

/** A wrapped line would count as two when the display is erased. */
function clipped(line: string, columns: number): string {
  return line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
}

/** Returns one line for logs and pipes. It changes only if something has happened. */
export function printBoardLine(board: Board): string {
  const { rows, rate, doing, finished } = board;
  const waiting = rows.find(
    ({ stage, reason }) =>
      (stage === 'queued' && reason !== '') ||
      (stage === 'dropping' && !reason.startsWith('waits')),
  );
  const reasonRow = rows.find(({ stage }) => stage === 'failed') ?? waiting;
  const parts = [
    `${board.ring} version ${board.version}: ${doing}`,
    ...(rows.length > 0 ? [countStages(rows), amounts(rows, rate)] : []),
    ...(finished > 0 ? [`${finished} finished`] : []),
    ...(rate.stalled.size > 0 ? [`${rate.stalled.size} stalled`] : []),
    ...(reasonRow === undefined ? [] : [`partition ${reasonRow.partition}: ${reasonRow.reason}`]),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

/** Returns the most urgent rows as a table, and the number of the others by stage. */
export function listedMoves(rows: readonly MoveRow[]): string[] {
  const shown = rows.slice(0, LISTED_MOVES_MAX);
  const more = rows.length - shown.length;
  const rest = `${counted(more, 'move')} more: ${countStages(rows.slice(shown.length))}`;
  const others = more === 0 ? [] : [`… and ${rest}; --json lists them`];
  return [...movesTable(shown, noMoveRate), ...others];
}

function movesTable(rows: readonly MoveRow[], rate: MoveRate): string[] {
  return printTable(rows, [
    { head: 'PARTITION', cell: ({ partition }) => partition },
    { head: 'ASSIGNMENT', cell: ({ assignment }) => assignment ?? '-' },
    { head: 'FROM', cell: ({ from }) => (from === null ? 'new' : `d${from}`) },
    { head: 'TO', cell: ({ to }) => (to === null ? '-' : `d${to}`) },
    { head: 'STAGE', cell: (row) => stageText(row, rate) },
    { head: 'COPIED', cell: copiedText },
    { head: 'WHY', cell: ({ reason }) => reason },
  ]);
}

function stageText({ stage, first, assignment }: MoveRow, { stalled }: MoveRate): string {
  const mark = first && stage === 'queued' ? ' (first)' : '';
  return assignment !== null && stalled.has(assignment) ? `${stage}, stalled` : `${stage}${mark}`;
}

function copiedText({ bytes, bytesTotal, stage }: MoveRow): string {
  if (bytesTotal === 0) return bytes === 0 ? '' : printBytes(bytes);
  if (stage === 'available') return printBytes(bytesTotal);
  return `${printBytes(bytes)} of ${printBytes(bytesTotal)}`;
}

function barLine({ rows, rate, finished }: Board): string {
  const moving = rows.filter(({ assignment }) => assignment !== null);
  const done = moving.reduce((sum, row) => sum + partDone(row), 0) + finished;
  const all = moving.length + finished;
  const part = all === 0 ? 1 : done / all;
  const full = Math.floor(part * BAR_CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return [`${bar} ${percent} %`, amounts(rows, rate), countStages(rows)]
    .filter((text) => text !== '')
    .join('  ');
}

/** Returns the completed share of a move, 0 to 1. The copy counts nine tenths. */
function partDone({ stage, bytes, bytesTotal }: MoveRow): number {
  if (stage === 'available') return 1;
  return bytesTotal === 0 ? 0 : (0.9 * bytes) / bytesTotal;
}

/** Returns `3 copying, 2 paused`. */
export function countStages(rows: readonly MoveRow[]): string {
  return moveStages
    .map((stage) => ({ stage, count: rows.filter((row) => row.stage === stage).length }))
    .filter(({ count }) => count > 0)
    .map(({ stage, count }) => `${count} ${stage}`)
    .join(', ');
}

function amounts(rows: readonly MoveRow[], { bytesPerSecond, secondsLeft }: MoveRate): string {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes === 0) return '';
  const left = bytesLeft(rows) ?? 0;
  const rate = bytesPerSecond === null ? '' : `, ${printBytes(Math.round(bytesPerSecond))}/s`;
  const eta =
    secondsLeft === null || secondsLeft === 0 ? '' : `, ${printSeconds(secondsLeft)} left`;
  return `${printBytes(bytes)} of ${printBytes(Math.round(bytes + left))}${rate}${eta}`;
}

function jsonLine({ rate, rows, ...board }: Board): string {
  const { bytesPerSecond, secondsLeft, stalled } = rate;
  const moves = rows.slice(0, JSON_MOVES_MAX).map((row) => {
    const isStalled = row.assignment !== null && stalled.has(row.assignment);
    return { ...row, stalled: isStalled };
  });
  const inFlight = rows.length;
  const figures = { inFlight, bytesPerSecond, secondsLeft };
  return JSON.stringify({ event: 'progress', ...board, ...figures, moves });
}
