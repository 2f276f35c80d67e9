// The key resource: PUT, GET, HEAD and DELETE of /v1/KEYSPACE/KEY.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { formatStamp } from '@ringwright/base/stamp';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { parseConsistency } from './consistency.ts';
import { type CoordinatorPorts, coordinateRead, coordinateWrite } from './coordinate.ts';
import { answerBytes } from './http-answer.ts';
import { readBody } from './http-body.ts';
import { keyOfPath } from './key-path.ts';

export const stampHeader = 'x-ringwright-stamp';

export interface KeyTarget {
  readonly keyspace: string;
  /** Percent-encoded key as it stands in the URL. */
  readonly keyPath: string;
  readonly query: string;
}

export async function answerKey(
  ports: CoordinatorPorts,
  target: KeyTarget,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const about = {
    keyspace: checkKeyspaceName(target.keyspace),
    key: keyOfPath(target.keyPath),
    consistency: parseConsistency(new URLSearchParams(target.query).get('consistency')),
  };
  switch (request.method) {
    case 'PUT': {
      const stamp = await coordinateWrite(ports, { ...about, value: await readBody(request) });
      response.writeHead(204, { [stampHeader]: formatStamp(stamp) }).end();
      return;
    }
    case 'DELETE': {
      const stamp = await coordinateWrite(ports, { ...about, value: null });
      response.writeHead(204, { [stampHeader]: formatStamp(stamp) }).end();
      return;
    }
    case 'GET':
    case 'HEAD':
      await answerGet(ports, about, { request, response });
      return;
    default:
      throw new CodedError('METHOD_UNKNOWN', `${request.method} is not PUT, GET, HEAD or DELETE`, {
        hint: 'write with PUT, read with GET or HEAD, remove with DELETE',
      });
  }
}

async function answerGet(
  ports: CoordinatorPorts,
  about: Parameters<typeof coordinateRead>[1],
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const record = await coordinateRead(ports, about);
  const stamp = record === null ? {} : { [stampHeader]: formatStamp(record) };
  if (record === null || record.value === null) {
    const error = new CodedError('KEY_UNKNOWN', 'no record with this key');
    const body = Buffer.from(`${JSON.stringify(error.toJSON())}\n`);
    const headers = { ...stamp, 'content-type': 'application/json' };
    answerBytes(response, body, { status: 404, headers });
    return;
  }
  const headers = { ...stamp, 'content-type': 'application/octet-stream' };
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...headers, 'content-length': record.value.length }).end();
  } else answerBytes(response, record.value, { status: 200, headers });
}
