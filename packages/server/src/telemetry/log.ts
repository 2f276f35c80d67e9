// The server's log: JSON lines on standard output, errors with their code and cause. Repeated lines
// are counted.

import { inspect } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';
import { repeatedLineMsMin } from '@ringwright/base/limits';
import { printableLines } from '@ringwright/base/printable';
import { messageOf } from '@ringwright/base/thrown';
import { monotonicMs } from '@ringwright/node/system-clock';
import {
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
  stdSerializers,
} from 'pino';
import { RepeatedLines } from './repeated-lines.ts';

export type { Logger };

/** Makes the log of a whole process; the last counts are written when the process ends. */
export function serverLog(level: string): Logger {
  const lines = new RepeatedLines(monotonicMs);
  setInterval(() => lines.tell(), repeatedLineMsMin / 2).unref();
  process.once('exit', () => lines.tellAll());
  return logOf(level, lines);
}

/** Without a destination it writes to standard output. */
export function logOf(level: string, lines: RepeatedLines, to?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError, err: stdSerializers.err },
    hooks: {
      logMethod(args, log, severity) {
        const [fields, message] = partsOf(args);
        lines.offer(keyOf(severity, fields, message), (repeated) => {
          log.call(this, repeated === 0 ? fields : { ...fields, repeated }, message);
        });
      },
      // JSON leaves DEL, C1 and characters that change the direction of text as they are.
      streamWrite: printableLines,
    },
  };
  return to === undefined ? pino(options) : pino(options, to);
}

/** Splits the arguments of a log call: a sentence, or fields and a sentence. */
function partsOf([first, second]: readonly unknown[]): [fields: object, message: string] {
  if (typeof first === 'object' && first !== null) return [first, String(second)];
  return [{}, String(first)];
}

/**
 * Fields that differ between lines about the same progress, or that any number of unknown peers may
 * fill.
 */
const progress: ReadonlySet<string> = new Set(['partition', 'rows', 'bytes', 'ms', 'stranger']);
const KEY_CHARACTERS_MAX = 1_000;
const INFO = pino.levels.values['info'] ?? 30;

/**
 * Returns equal keys for lines that say the same. Long numbers are masked, since they are bytes,
 * times and the like, except after a colon, where they are ports. Lines up to level info are
 * counted for all partitions together.
 */
function keyOf(severity: number, fields: object, message: string): string {
  const keyFields = Object.entries(fields)
    .filter(([name]) => severity > INFO || !progress.has(name))
    .map(([name, value]) => [name, value instanceof Error ? wordsOf(value) : value]);
  return textOf([severity, message, keyFields])
    .replaceAll(/(?<!\d)(?<!(?<!"):)\d{4,}/g, '#')
    .slice(0, KEY_CHARACTERS_MAX);
}

/** JSON takes a tenth of the time, but cannot print everything. */
function textOf(parts: readonly unknown[]): string {
  try {
    return JSON.stringify(parts);
  } catch {
    return inspect(parts, { depth: 4, breakLength: Infinity });
  }
}

function wordsOf(error: Error): string[] {
  return [error instanceof CodedError ? error.code : error.name, error.message];
}

/** Expected failures need no stack; bugs do. */
function describeError(error: unknown): unknown {
  if (error instanceof CodedError)
    return { ...error.toJSON(), cause: error.cause instanceof Error ? messageOf(error.cause) : '' };
  return error instanceof Error ? stdSerializers.err(error) : error;
}
