// The server's log: JSON lines on standard output, errors with their code and cause.
import { CodedError } from '@ringwright/base/coded-error';
import { printableLines } from '@ringwright/base/printable';
import { type Logger, pino, stdSerializers } from 'pino';

export type { Logger };

export function serverLog(level: string): Logger {
  return pino({
    level,
    serializers: { error: describeError, err: stdSerializers.err },
    // JSON itself leaves DEL, C1 and what turns the direction of reading as they are.
    hooks: { streamWrite: printableLines },
  });
}

/** Expected failures need no stack; bugs do. */
function describeError(error: unknown): unknown {
  if (error instanceof CodedError)
    return { ...error.toJSON(), cause: error.cause instanceof Error ? error.cause.message : '' };
  return error instanceof Error ? stdSerializers.err(error) : error;
}
