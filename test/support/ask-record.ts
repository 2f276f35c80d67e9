// Sends one read, write or delete of a record over HTTP, and returns its outcome for a history.
import type http from 'node:http';
import { parseStamp, type Stamp } from '@ringwright/base/stamp';
import { codeOf } from '@ringwright/base/thrown';
import { askServer, type Request, type Response, refusalOf } from './ask-server.ts';
import type { Operation } from './history-operation.ts';

/** The outcome of an operation. `value` is what a read found. */
export type OperationResult = Pick<Operation, 'outcome' | 'stamp' | 'newer' | 'reason'> & {
  readonly value?: string | null;
};

interface RecordQuestion extends Pick<Operation, 'kind' | 'key' | 'value' | 'level'> {
  readonly port: number;
  readonly keyspace: string;
  readonly shown?: Request['shown'];
  /** For example a session. */
  readonly headers?: http.OutgoingHttpHeaders;
}

/** Never rejects: a broken connection is an outcome too. */
export async function askRecord(question: RecordQuestion): Promise<OperationResult> {
  const { kind, key, value, level, port, keyspace, headers = {}, shown = null } = question;
  const query = level === undefined ? '' : `?consistency=${level}`;
  const method = kind === 'write' ? 'PUT' : kind === 'delete' ? 'DELETE' : 'GET';
  const body = value === null ? {} : { body: value };
  try {
    const path = `/v1/${keyspace}/${key}${query}`;
    const response = await askServer(port, {
      method,
      path,
      keepAlive: true,
      headers,
      shown,
      ...body,
    });
    return kind === 'read' ? readOutcome(response) : changeOutcome(response);
  } catch (error) {
    return unanswered(error);
  }
}

function readOutcome(response: Response): OperationResult {
  const stamp = stampOf(response);
  if (response.status === 200) return { outcome: 'acked', stamp, value: response.bytes.toString() };
  const { code } = refusalOf(response);
  if (code === 'KEY_UNKNOWN') return { outcome: 'acked', stamp };
  return { outcome: 'rejected', stamp, reason: reasonOf(response) };
}

function changeOutcome(response: Response): OperationResult {
  if (response.status === 204) return { outcome: 'acked', stamp: stampOf(response) };
  const { code, details } = refusalOf(response);
  const stamp = parseStamp(String(details.stamp));
  if (code === 'SUPERSEDED') {
    return { outcome: 'superseded', stamp, newer: parseStamp(String(details.newer)) };
  }
  const outcome = details.outcome === 'unknown' ? 'unknown' : 'rejected';
  return { outcome, stamp, reason: reasonOf(response) };
}

function reasonOf(response: Response): string {
  const { code, details } = refusalOf(response);
  return `${code} ${JSON.stringify(details.devices ?? '')}`;
}

function stampOf({ headers }: Response): Stamp | null {
  return parseStamp(String(headers['x-ringwright-stamp'] ?? ''));
}

/**
 * A refused connection means that nothing happened. After any other error the server may have done
 * the work.
 */
function unanswered(error: unknown): OperationResult {
  const refused = codeOf(error) === 'ECONNREFUSED';
  return { outcome: refused ? 'rejected' : 'unknown', stamp: null, reason: String(error) };
}
