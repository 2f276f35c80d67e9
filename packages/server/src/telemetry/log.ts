// The server's log: JSON lines on standard output, errors with their code and cause. What is said
// again is counted.
import { inspect } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';
import { repeatedLineMsMin } from '@ringwright/base/limits';
import { printableLines } from '@ringwright/base/printable';
import {
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
  stdSerializers,
} from 'pino';
import { RepeatedLines } from './repeated-lines.ts';

export type { Logger };

/** For a whole process: the last counts are written when it ends. */
export function serverLog(level: string): Logger {
  const lines = new RepeatedLines(() => performance.now());
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
      logMethod(said, log, severity) {
        const [fields, message] = partsOf(said);
        lines.offer(keyOf(severity, fields, message), (repeated) => {
          log.call(this, repeated === 0 ? fields : { ...fields, repeated }, message);
        });
      },
      // JSON itself leaves DEL, C1 and what turns the direction of reading as they are.
      streamWrite: printableLines,
    },
  };
  return to === undefined ? pino(options) : pino(options, to);
}

/** What the server gives its log: a sentence, or fields and a sentence. */
function partsOf([first, second]: readonly unknown[]): [fields: object, message: string] {
  if (typeof first === 'object' && first !== null) return [first, String(second)];
  return [{}, String(first)];
}

/** What differs between lines that report the same progress, or come from any number of strangers. */
const progress: ReadonlySet<string> = new Set(['partition', 'rows', 'bytes', 'ms', 'stranger']);
const KEY_CHARACTERS_MAX = 1_000;
const INFO = pino.levels.values['info'] ?? 30;

/**
 * Equal for lines that say the same. Long numbers count bytes, times and the like, except after a
 * colon, where they are ports; what goes well is counted for all partitions together.
 */
function keyOf(severity: number, fields: object, message: string): string {
  const counted = Object.entries(fields)
    .filter(([name]) => severity > INFO || !progress.has(name))
    .map(([name, value]) => [name, value instanceof Error ? wordsOf(value) : value]);
  return textOf([severity, message, counted])
    .replaceAll(/(?<!\d)(?<!(?<!"):)\d{4,}/g, '#')
    .slice(0, KEY_CHARACTERS_MAX);
}

/** JSON takes a tenth of the time, but not everything. */
function textOf(said: readonly unknown[]): string {
  try {
    return JSON.stringify(said);
  } catch {
    return inspect(said, { depth: 4, breakLength: Infinity });
  }
}

function wordsOf(error: Error): string[] {
  return [error instanceof CodedError ? error.code : error.name, error.message];
}

/** Expected failures need no stack; bugs do. */
function describeError(error: unknown): unknown {
  if (error instanceof CodedError)
    return { ...error.toJSON(), cause: error.cause instanceof Error ? error.cause.message : '' };
  return error instanceof Error ? stdSerializers.err(error) : error;
}
