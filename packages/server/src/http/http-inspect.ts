// Shows what the data directory holds: GET /v1/_inspect/[RING[/PARTITION]], for `ring-server
// inspect`.
import { CodedError } from '@ringwright/base/coded-error';
import type { StatusPorts } from '../status/status.ts';
import { answerJson, type Exchange, methodUnknown } from './http-answer.ts';
import { inspect } from './inspection.ts';

export const inspectSegment = '_inspect';

/**
 * Answers an Inspection and the identity of the directory. This is what the device itself holds; no
 * other server is asked. Throws USAGE, METHOD_UNKNOWN and what inspect throws.
 */
export function answerInspect(
  { store, identity }: Pick<StatusPorts, 'store' | 'identity'>,
  path: string,
  { request, response }: Exchange,
): void {
  const [, ring, partition] = /^([^/]+)?(?:\/(\d{1,8}))?$/.exec(path) ?? [];
  const hint = `GET /v1/${inspectSegment}/, then /RING or /RING/PARTITION`;
  if (request.method !== 'GET') throw methodUnknown(request, { allow: ['GET'], hint });
  if (ring === undefined && path !== '') {
    throw new CodedError('USAGE', `there is nothing at /v1/${inspectSegment}/${path}`, { hint });
  }
  const number = partition === undefined ? null : Number(partition);
  const { name, born } = identity;
  answerJson(response, 200, { device: name, born, ...inspect(store, ring ?? null, number) });
}
