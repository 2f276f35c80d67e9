// The permissions that each HTTP path requires, one line per path. Items of a batch are checked one
// by one when they are read. Pure.
import { anyToken, type Need, nothing, role } from '@ringwright/access/need';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { batchSegment } from './http-batch.ts';
import { inspectSegment } from './http-inspect.ts';
import { listSegment, prefixOf, scanSegment } from './http-scan.ts';
import { keyOfPath } from './key-request.ts';

const metricsNeeds = [role('metrics', 'operator')];

const byService: Readonly<Record<string, readonly Need[]>> = {
  // For load balancers: whether a server is here, and whether it is ready for requests.
  '/healthz': [nothing],
  '/readyz': [nothing],
  '/v1/status': metricsNeeds,
  '/metrics': metricsNeeds,
};

export function isService(path: string): boolean {
  return Object.hasOwn(byService, path);
}

type NeedsOf = (rest: string, query: string) => readonly Need[];

/**
 * A map, because an object would also have an entry for `constructor`, which is a valid keyspace
 * name.
 */
const bySegment: ReadonlyMap<string, NeedsOf> = new Map<string, NeedsOf>([
  ['rings', (name) => [{ kind: 'ring', keyspace: name }]],
  ['duty', () => metricsNeeds],
  [inspectSegment, () => [role('operator')]],
  [listSegment, (keyspace) => [{ kind: 'data', role: 'read', keyspace, key: null }]],
  [
    scanSegment,
    (keyspace, query) => {
      const prefix = prefixOf(query);
      return [{ kind: 'data', role: 'read', keyspace, key: prefix.length === 0 ? null : prefix }];
    },
  ],
  [batchSegment, (keyspace) => [{ kind: 'ring', keyspace }]],
]);

/**
 * `headers`: a conditional write reveals the present record, so it also requires permission to
 * read. Throws KEY_INVALID.
 */
export function httpNeeds(
  method: string,
  { path, query }: { readonly path: string; readonly query: string },
  headers: Readonly<Record<string, unknown>>,
): readonly Need[] {
  const service = byService[path];
  if (service !== undefined) return service;
  const [, segment, rest = ''] = /^\/v1\/([^/]+)\/(.*)$/s.exec(path) ?? [];
  if (segment === undefined) return [anyToken];
  const segmentNeeds = bySegment.get(segment);
  if (segmentNeeds !== undefined) return segmentNeeds(rest, query);
  return keyNeeds(method, { keyspace: checkKeyspaceName(segment), key: keyOfPath(rest) }, headers);
}

function keyNeeds(
  method: string,
  target: { readonly keyspace: string; readonly key: Uint8Array },
  headers: Readonly<Record<string, unknown>>,
): readonly Need[] {
  const read: Need = { kind: 'data', role: 'read', ...target };
  if (method !== 'PUT' && method !== 'DELETE') return [read];
  const write: Need = { ...read, role: 'write' };
  const isConditional = 'if-match' in headers || 'if-none-match' in headers;
  return isConditional ? [write, read] : [write];
}
