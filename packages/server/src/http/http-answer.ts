// Answers over HTTP: bytes, JSON, and errors as {code, message, hint, details} with their status.
import type { ServerResponse } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { retryAfterSeconds } from '@ringwright/base/limits-wire';

export type Headers = Readonly<Record<string, string | number>>;

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

/** Expected failures carry their own status; anything else is a bug and says no more than that. */
export function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error instanceof CodedError) {
    if (error.http === 401) response.setHeader('www-authenticate', 'Bearer');
    if (error.http === 503) response.setHeader('retry-after', retryAfterSeconds);
    answerJson(response, error.http, error.toJSON());
    return;
  }
  const message = 'the server failed; its log has the reason';
  answerJson(response, 500, { code: 'INTERNAL', message, hint: '', details: {} });
}
