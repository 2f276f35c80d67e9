// Tests the board that is drawn from collected states: its rows, its rate and its text.
import { CodedError } from '@ringwright/base/coded-error';
import type { Move } from '@ringwright/ring/move';
import { describe, expect, test } from 'vitest';
import { Display } from '../cli/display.ts';
import { type Line, Terminal } from '../cli/terminal.ts';
import type { RingStatus } from '../servers/server-status.ts';
import { noMoveRate, observe } from './move-rate.ts';
import { type MoveRow, moveRows } from './move-rows.ts';
import { type Board, drawBoard, listedMoves, printBoard, printBoardLine } from './print-board.ts';

const move = (assignment: number, partition: number) => ({
  ...{ partition, replica: 1, from: 2, to: 4, assignment },
  state: 'INITIALIZING' as const,
});

const load = (assignment: number, partition: number, fields: object) => ({
  ...{ partition, assignment, bytes: 0, bytesTotal: 0, rows: 0, copiesVerified: 0, reason: '' },
  stage: 'copying' as const,
  ...fields,
});

const joiner = {
  ...{ ring: 'cities', version: 9, id: 'f'.repeat(64), sinceMs: 0, disk: null, device: 4 },
  ...{ serving: 0, notReady: 0, rows: 0, bytes: 0, refusal: '', refusalCode: null },
  loads: [
    load(11, 3, { bytes: 400_000, bytesTotal: 1_000_000, rows: 0 }),
    load(12, 5, { stage: 'available', bytes: 900_000, bytesTotal: 900_000, rows: 80 }),
    load(13, 7, { stage: 'failed', reason: 'd2 cannot be reached' }),
    load(14, 8, { stage: 'queued', reason: '4 loads run here, the maximum' }),
  ],
  ...{ paused: [15], first: [14], surplus: 0, draining: [] },
} as unknown as RingStatus; // fields that no row uses are left out
const holder = {
  ...joiner,
  ...{ device: 2, loads: [], paused: [], first: [], surplus: 1 },
  draining: [{ partition: 1, reason: 'd4 lacks part of partition 1' }],
} as unknown as RingStatus;

const moves = [move(11, 3), move(12, 5), move(13, 7), move(14, 8), move(15, 9)];
const rows = moveRows(
  { moves },
  new Map([
    [4, joiner],
    [2, holder],
  ]),
);
const board = (fields: Partial<Board> = {}): Board => ({
  ...{ ring: 'cities', version: 9, doing: 'joiners copy', rows, rate: noMoveRate, finished: 0 },
  ...fields,
});
const screen = { columns: 100, lines: 12 };
const textsOf = (lines: readonly Line[]): string[] =>
  lines.map((line) => (typeof line === 'string' ? line : line.text));

test('a long list shows the moves that need attention, and counts the others', () => {
  const many = Array.from({ length: 3_000 }, (_, partition) => move(partition + 1, partition));
  const loads = [load(2_900, 2_899, { stage: 'failed', reason: 'd2 cannot be reached' })];
  const listed = listedMoves(
    moveRows({ moves: many }, new Map([[4, { ...joiner, loads, failing: [] }]])),
  );
  expect(listed).toHaveLength(1 + 1_000 + 1);
  expect(listed[1]).toMatch(/^ +2899 .* failed .* d2 cannot be reached$/);
  expect(listed.at(-1)).toBe('… and 2000 moves more: 2000 queued; --json lists them');
  expect(listedMoves(rows)).toHaveLength(1 + rows.length);
});

test('a copy that exceeds its total because of writes does not show the old total', () => {
  const said = { ...joiner, loads: [load(11, 3, { bytes: 9_000, bytesTotal: 8_000 })] };
  const later = moveRows({ moves: [move(11, 3)] }, new Map([[4, said]]));
  const line = printBoardLine(board({ rows: later }));
  expect(line).toContain('9.00 kB');
  expect(line).not.toContain('8.00 kB');
});

test('the line shows why a drain waits, unless the drain only waits for its turn', () => {
  const dropping = rows.filter(({ stage }) => stage === 'dropping');
  expect(printBoardLine(board({ rows: dropping }))).toBe(
    'cities version 9: joiners copy; 1 dropping; partition 1: d4 lacks part of partition 1',
  );
  const inTurn = dropping.map((row) => ({ ...row, reason: 'waits for its turn' }));
  expect(printBoardLine(board({ rows: inTurn }))).toBe(
    'cities version 9: joiners copy; 1 dropping',
  );
});

test('a move that has not begun shows the reason', () => {
  const reasonOf = (fields: object, state = 'INITIALIZING'): string | undefined => {
    const said = { ...joiner, loads: [], failing: [], ...fields } as unknown as RingStatus;
    const one = { ...move(11, 3), state: state as 'PROPOSED' };
    return moveRows({ moves: [one] }, new Map([[4, said]]))[0]?.reason;
  };
  const failing = [{ step: 'accept', reason: '1.2 MB are free, 256 MB are needed' }];
  expect(reasonOf({ failing })).toBe('accept fails: 1.2 MB are free, 256 MB are needed');
  expect(reasonOf({ paused: [11], failing })).toBe('paused by an operator');
  expect(reasonOf({}, 'PROPOSED')).toBe('waiting until every server knows of it');
  expect(reasonOf({})).toBe('d4 has version 9 and has not started');
  expect(reasonOf({ loads: [load(11, 3, { stage: 'queued' })] })).toBe('waits for its turn');
});

describe('the board', () => {
  test('has a row for each move, trouble first, and for each file to drop', () => {
    expect(textsOf(printBoard(board(), screen))).toMatchInlineSnapshot(`
      [
        "cities version 9: joiners copy",
        "██████░░░░░░░░░░░░░░░░░░  27 %  1.30 MB of 4.75 MB  1 failed, 1 copying, 1 paused, 1 queued, 1 drop…",
        "PARTITION  ASSIGNMENT  FROM  TO  STAGE           COPIED               WHY",
        "        7  13          d2    d4  failed                               d2 cannot be reached",
        "        3  11          d2    d4  copying         400.0 kB of 1.00 MB",
        "        9  15          d2    d4  paused                               paused by an operator",
        "        8  14          d2    d4  queued (first)                       4 loads run here, the maximum",
        "        1  -           d2    -   dropping                             d4 lacks part of partition 1",
        "        5  12          d2    d4  available       900.0 kB",
      ]
    `);
  });

  test('fits the screen and counts the rows that are left out', () => {
    const lines = textsOf(printBoard(board(), { columns: 60, lines: 7 }));
    expect(lines).toHaveLength(6);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines.at(-1)).toBe('… 4 more: 1 paused, 1 queued, 1 dropping, 1 available');
  });

  test('shows failed moves in red', () => {
    const red = printBoard(board(), screen).filter(
      (line) => typeof line !== 'string' && line.style === 'red',
    );
    expect(red).toMatchObject([{ text: expect.stringContaining('cannot be reached') }]);
  });

  test('shows the texts of servers escaped and without wrapping', () => {
    const evil = rows.map((row) => ({ ...row, reason: '\u001b[2J'.repeat(30) }));
    const lines = textsOf(printBoard(board({ rows: evil }), screen));
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(screen.columns);
  });

  test('is one line if it cannot be redrawn', () => {
    expect(printBoardLine(board({ finished: 2 }))).toMatchInlineSnapshot(
      `"cities version 9: joiners copy; 1 failed, 1 copying, 1 paused, 1 queued, 1 dropping, 1 available; 1.30 MB of 4.75 MB; 2 finished; partition 7: d2 cannot be reached"`,
    );
  });

  test('shows the moves of a joiner that does not answer as failed', () => {
    const away = moveRows({ moves }, new Map([[4, new Error('10.0.0.4:6200 cannot be reached')]]));
    expect(away.map(({ stage }) => stage)).toEqual(Array(5).fill('failed'));
  });
});

test('many moves read each load once, and not once per move', () => {
  const count = 300;
  let reads = 0;
  const loads = Array.from({ length: count }, (_, partition) => {
    const assignment = partition + 1;
    const counted = load(assignment, partition, { stage: 'available' });
    Object.defineProperty(counted, 'assignment', {
      get: () => {
        reads += 1;
        return assignment;
      },
    });
    return counted;
  });
  const many = loads.map(({ partition }) => move(partition + 1, partition));
  const found = moveRows({ moves: many }, new Map([[4, { ...joiner, loads, failing: [] }]]));
  expect(found.map(({ stage }) => stage)).toEqual(Array(count).fill('available'));
  expect(reads).toBe(count);
});

test('a move to a joiner without the ring is queued while PROPOSED, and failed later', () => {
  const lacks = new CodedError('RING_UNKNOWN', '10.0.0.4:6200 has no ring cities');
  const stagesOf = (state: Move['state']) =>
    moveRows({ moves: [{ ...move(11, 3), state }] }, new Map([[4, lacks]])).map((row) => row.stage);
  expect(stagesOf('PROPOSED')).toEqual(['queued']);
  expect(stagesOf('INITIALIZING'), 'the joiner had the ring and lost it').toEqual(['failed']);
});

describe('the rate', () => {
  const at = (bytes: number): MoveRow[] => [{ ...rows[1]!, stage: 'copying', bytes }];

  test('is measured over the last seconds and predicts how long the rest takes', () => {
    const first = observe(noMoveRate, at(0), 1_000);
    expect(first).toMatchObject({ bytesPerSecond: null, secondsLeft: null });
    const second = observe(first, at(500_000), 3_000);
    expect(second).toMatchObject({ bytesPerSecond: 250_000, secondsLeft: 2 });
    const late = observe(second, at(500_000), 60_000);
    expect(late.samples).toHaveLength(1);
  });

  test('leaves paused moves out, and is unknown if all moves are paused', () => {
    const [running] = at(500_000);
    const held = { ...running!, stage: 'paused' as const };
    const rateOf = (seen: MoveRow[]) => observe(observe(noMoveRate, at(0), 0), seen, 1_000);
    const lineOf = (seen: MoveRow[]): string =>
      printBoardLine(board({ rows: seen, rate: rateOf(seen) }));
    expect(lineOf([running!, held])).toContain('1.00 MB of 2.00 MB, 1.00 MB/s, 0.5 s left');
    const done = { ...running!, stage: 'available' as const, bytes: 1_000_000 };
    const drop = { ...held, assignment: null, stage: 'dropping' as const };
    for (const seen of [[held], [held, done], [drop, held]]) {
      expect(lineOf(seen)).not.toMatch(/\/s|left/);
      // Null means unknown, and 0 seconds would mean finished.
      expect(rateOf(seen)).toMatchObject({ bytesPerSecond: null, secondsLeft: null });
    }
    expect(rateOf([done])).toMatchObject({ bytesPerSecond: 1_000_000, secondsLeft: 0 });
  });

  test('is unknown, and not negative, when finished moves take their bytes away', () => {
    const before = observe(observe(noMoveRate, at(0), 0), at(900_000), 1_000);
    expect(observe(before, at(10), 2_000)).toMatchObject({ bytesPerSecond: null });
  });

  test('marks a copy without new bytes for a while as stalled, but not a waiting copy', () => {
    const before = observe(noMoveRate, rows, 0);
    expect(before.stalled.size).toBe(0);
    expect([...observe(before, rows, 15_000).stalled]).toEqual([11]);
    expect(
      textsOf(printBoard(board({ rate: observe(before, rows, 15_000) }), screen)).join(),
    ).toContain('copying, stalled');
  });
});

describe('the display', () => {
  const shown = (terminal: boolean, inJson = false) => {
    const written: string[] = [];
    let nowMs = 0;
    const display = new Display({
      terminal: new Terminal({ write: (text) => written.push(text), colors: false }),
      screen: () => (terminal ? screen : null),
      inJson,
      nowMs: () => nowMs,
    });
    const later = (ms: number): void => void (nowMs += ms);
    return { written, display, later };
  };

  test('redraws the board, keeps messages above it, and erases the board at the end', () => {
    const { written, display, later } = shown(true);
    display.show(drawBoard(board({ rows: [] })));
    display.show(drawBoard(board({ rows: [], doing: 'too soon' })));
    display.tell('a server is back');
    later(200);
    display.show(drawBoard(board({ rows: [], doing: 'old holders drop their files' })));
    display.erase();
    const up = '\u001b[1A\u001b[0J';
    const first = 'cities version 9: joiners copy\n';
    expect(written).toEqual([
      ...[first, up, 'a server is back\n', first, up],
      ...['cities version 9: old holders drop their files\n', up],
    ]);
  });

  test('writes a line per second without a terminal, and no line twice in a row', () => {
    const { written, display, later } = shown(false);
    display.show(drawBoard(board()));
    later(500);
    display.show(drawBoard(board({ finished: 1 })));
    later(500);
    display.show(drawBoard(board()));
    later(1_000);
    display.show(drawBoard(board({ finished: 1 })));
    display.erase();
    expect(written).toEqual([
      `${printBoardLine(board())}\n`,
      `${printBoardLine(board({ finished: 1 }))}\n`,
    ]);
  });

  test('writes every line as a JSON document with --json', () => {
    const { written, display } = shown(false, true);
    display.show(drawBoard(board()));
    const [document] = written.map((line) => JSON.parse(line));
    expect(document).toMatchObject({
      ...{ event: 'progress', ring: 'cities', version: 9, finished: 0, inFlight: 6 },
    });
    expect(document.moves).toHaveLength(6);
    expect(document.moves[0]).toMatchObject({ partition: 7, stage: 'failed', stalled: false });
  });
});
