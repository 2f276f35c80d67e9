// A worker's client that uses the client package: it connects to the holders directly, through
// their proxies.
import { CodedError } from '@ringwright/base/coded-error';
import { parseStamp } from '@ringwright/base/stamp';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { writeFailure } from '@ringwright/client/failure-kind';
import type { OperationResult } from '../../../test/support/ask-record.ts';
import { keyspace, type Stage } from '../stage.ts';
import type { Question, WorkerClient } from './worker-client.ts';

interface SessionShape {
  readonly session: string;
  readonly levels: WorkerClient['levels'];
}

export async function packageClient(
  stage: Stage,
  { session, levels }: SessionShape,
): Promise<WorkerClient> {
  const addresses = stage.victims.map(({ place }) => `127.0.0.1:${place.proxyPort}`);
  const client = await connect(addresses, { keyspace, ...stage.secured?.lasting });
  return {
    session,
    levels,
    async ask(question) {
      try {
        return { ...(await operate(client, question)), port: 0 };
      } catch (error) {
        return { ...failed(question, error), port: 0 };
      }
    },
    close: () => void client.close(),
  };
}

async function operate(
  client: Client,
  { kind, key, value, level }: Question,
): Promise<OperationResult> {
  const options = level === undefined ? {} : { consistency: level };
  if (kind === 'read') {
    const record = await client.get(key, options);
    if (record === null) return { outcome: 'acked', stamp: null, value: null };
    const stamp = parseStamp(record.stamp);
    return { outcome: 'acked', stamp, value: Buffer.from(record.value).toString() };
  }
  const stamp =
    value === null ? await client.delete(key, options) : await client.put(key, value, options);
  return { outcome: 'acked', stamp: parseStamp(stamp) };
}

function failed({ kind }: Question, error: unknown): OperationResult {
  const reason = String(error);
  if (kind === 'read') return { outcome: 'rejected', stamp: null, reason };
  if (!(error instanceof CodedError)) return { outcome: 'unknown', stamp: null, reason };
  const { code, details } = error;
  const stamp = parseStamp(String(details.stamp));
  if (code === 'SUPERSEDED') {
    return { outcome: 'superseded', stamp, newer: parseStamp(String(details.newer)) };
  }
  const isNowhere = writeFailure(error) === 'elsewhere';
  return { outcome: isNowhere ? 'rejected' : 'unknown', stamp, reason: `${code} ${reason}` };
}
