// The only error class for expected failures: a stable code, a sentence, a hint and plain details.
import { type ErrorCode, type ErrorKind, errorCatalogue } from './errors.ts';

interface ErrorOptionsCoded {
  /** What to do next, as a sentence or a command to type. */
  readonly hint?: string | undefined;
  /** Values that a program may read; plain JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An expected failure. `message` says what went wrong, with both values. */
export class CodedError extends Error {
  override readonly name = 'CodedError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsCoded = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? '';
    this.details = options.details ?? {};
  }

  get exit(): number {
    return errorCatalogue[this.code].exit;
  }

  get http(): number {
    return errorCatalogue[this.code].http;
  }

  get retry(): ErrorKind['retry'] {
    return errorCatalogue[this.code].retry;
  }

  /** What happened to the request: `details.outcome` if present, else what the code means. */
  get outcome(): ErrorKind['outcome'] {
    if (this.details.outcome === 'rejected') return 'not-done';
    if (this.details.outcome === 'unknown') return 'maybe-done';
    return errorCatalogue[this.code].outcome;
  }

  toJSON(): ErrorDocument {
    return { code: this.code, message: this.message, hint: this.hint, details: this.details };
  }
}

export function hasCode(error: unknown, code: ErrorCode): error is CodedError {
  return error instanceof CodedError && error.code === code;
}

/**
 * Makes an error without a stack trace, which takes 12 us. For errors that any client can cause at
 * any rate.
 */
export function withoutStack<T extends Error>(make: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Resolves to the CodedError instead of rejecting with it. Any other error is rethrown. */
export function resultOrError<T>(work: Promise<T>): Promise<T | CodedError> {
  return work.catch((error: unknown) => {
    if (error instanceof CodedError) return error;
    throw error;
  });
}

/** The same of what needs no waiting. */
export function resultOrErrorOf<T>(work: () => T): T | CodedError {
  try {
    return work();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

/**
 * Returns the same failure with more details. An error that is not a CodedError is returned as it
 * is.
 */
export function withDetails(error: unknown, more: CodedError['details']): unknown {
  if (!(error instanceof CodedError)) return error;
  const { code, message, hint } = error;
  return new CodedError(code, message, {
    hint,
    details: { ...error.details, ...more },
    cause: error,
  });
}

/** The form of an error in JSON: on stderr, in HTTP responses and on the wire. */
export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}
