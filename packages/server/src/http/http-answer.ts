// Answers over HTTP: bytes, JSON, and errors as {code, message, hint, details} with their status.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asBuffer } from '@ringwright/base/as-buffer';
import { CodedError, type ErrorDocument } from '@ringwright/base/coded-error';
import { retryAfterSeconds } from '@ringwright/base/limits-wire';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Headers = Readonly<Record<string, string | number>>;

export function answerJson(response: ServerResponse, status: number, document: unknown): void {
  const body = Buffer.from(`${JSON.stringify(document)}\n`);
  answerBytes(response, body, { status, headers: { 'content-type': 'application/json' } });
}

export function answerBytes(
  response: ServerResponse,
  body: Uint8Array,
  { status, headers }: { readonly status: number; readonly headers: Headers },
): void {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
}

/**
 * Expected failures carry their own status. Any other error is a bug, and the client learns no
 * details of it.
 */
export function failureOf(error: unknown): {
  readonly status: number;
  readonly error: ErrorDocument;
} {
  if (error instanceof CodedError) return { status: error.http, error: error.toJSON() };
  const bug = new CodedError('INTERNAL', 'the server failed; its log has the reason');
  return { status: bug.http, error: bug.toJSON() };
}

/**
 * `allow`: the methods that the resource supports, which the answer lists too (RFC 9110, 15.5.6).
 */
export function methodUnknown(
  { method }: IncomingMessage,
  { allow, hint }: { readonly allow: readonly string[]; readonly hint: string },
): CodedError {
  const message = `${method} is not supported here, only ${allow.join(', ')}`;
  return new CodedError('METHOD_UNKNOWN', message, { hint, details: { allow } });
}

/**
 * Must be called before the answer to a request whose body is not read to its end. Node drops an
 * answered request without an event, so a pending read of its body would never end.
 */
export function endWithAnswer({ request, response }: Exchange): void {
  response.shouldKeepAlive = false;
  response.once('close', () => request.destroy());
}

export function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, error: document } = failureOf(error);
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (Array.isArray(document.details.allow)) {
    response.setHeader('allow', document.details.allow.join(', '));
  }
  // No retry-after header where the same request must not be sent again.
  const isWorthIt = !(error instanceof CodedError) || error.retry !== 'never';
  if (status === 503 && isWorthIt) response.setHeader('retry-after', retryAfterSeconds);
  answerJson(response, status, document);
}

/** Returns a key in the form in which a batch accepts it. */
export function keyForm(key: Uint8Array): { key: string } | { key64: string } {
  const bytes = asBuffer(key);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { key: text } : { key64: bytes.toString('base64') };
}
