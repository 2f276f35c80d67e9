// The HTTP side of a server: which path is handled where.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Need, role } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import {
  httpHeaderBytesMax,
  httpHeadersMsMax,
  httpLateCheckMs,
  httpRequestMsMax,
  httpSilentMsMax,
} from '@ringwright/base/limits-listeners';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { partitionerSettings } from '@ringwright/ring/partitioner/partitioner-settings';
import { credentialOf } from '../access/credential.ts';
import type { Guard } from '../access/guard.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { partitionDuty } from '../moves/partition-duty.ts';
import type { PeerReconnects } from '../peers/peer-reconnects.ts';
import type { ProvenPeers } from '../peers/proven-peers.ts';
import { diskStatus } from '../status/disk-status.ts';
import { estimateMedian } from '../status/estimate-median.ts';
import { measureStatus } from '../status/measure-status.ts';
import { newcomerStatus } from '../status/newcomer-status.ts';
import { partitionSizes, type StatusPorts, serverStatus } from '../status/status.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { checkHost, checkOrigin, malformationOf } from './check-request.ts';
import {
  answerBytes,
  answerError,
  answerJson,
  type Exchange,
  endWithAnswer,
  methodUnknown,
} from './http-answer.ts';
import { answerBatch, batchSegment } from './http-batch.ts';
import { discardBody } from './http-body.ts';
import { limitConnections, refuseUnreadable } from './http-connections.ts';
import { answerInspect, inspectSegment } from './http-inspect.ts';
import { answerKey } from './http-keys.ts';
import { httpNeeds, isService } from './http-needs.ts';
import { answerScan, listSegment, scanSegment } from './http-scan.ts';
import { inOrder } from './in-order.ts';
import { readyAnswer } from './ready-answer.ts';

export interface HttpPorts {
  readonly guard: Guard;
  readonly proven: Pick<ProvenPeers, 'isMembersOnly'>;
  readonly reconnects: Pick<PeerReconnects, 'isWaiting'>;
  readonly coordinator: CoordinatorPorts;
  readonly status: StatusPorts;
  readonly metrics: Metrics;
  /** Whether the server answers to this Host header: check-request.ts. */
  readonly allowsHost: (header: string) => boolean;
  readonly onBug: (error: unknown) => void;
  /** Share of the usual connections that may be open: see connectionShare. Default: 1. */
  readonly share?: number;
}

// An import would read everything the module exports, and so load the parts for clients: 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

export function createHttp(ports: HttpPorts): Server {
  const settings = {
    maxHeaderSize: httpHeaderBytesMax,
    headersTimeout: httpHeadersMsMax,
    requestTimeout: httpRequestMsMax,
    connectionsCheckingInterval: httpLateCheckMs,
    // A request without a Host header would get a bare status: malformationOf refuses it.
    requireHostHeader: false,
    // Clients offer other upgrades, such as HTTP/2, with their first request. That request is
    // answered in HTTP/1.1 (RFC 9110, 7.8).
    shouldUpgradeCallback: ({ headers }: IncomingMessage) =>
      headers.upgrade?.toLowerCase() === 'websocket',
  };
  const server = createServer(
    settings,
    inOrder((exchange) => answer(ports, exchange)),
  );
  server.keepAliveTimeout = httpRequestMsMax;
  server.timeout = httpSilentMsMax;
  limitConnections(server, ports.share ?? 1);
  refuseUnreadable(server);
  return server;
}
async function answer(ports: HttpPorts, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const malformation = malformationOf(request);
  if (malformation !== null) {
    response.shouldKeepAlive = false;
    answerError(response, malformation);
    return;
  }
  try {
    await route(ports, exchange);
  } catch (error) {
    // A client that disconnects in the middle of its body is no bug, and gets no answer.
    const isGone = request.destroyed && !request.complete;
    if (!(error instanceof CodedError) && !isGone) ports.onBug(error);
    // Reads and discards the rest of a refused body, so that the answer arrives. If more may still
    // come, the connection ends.
    await discardBody(request);
    if (!request.complete) endWithAnswer(exchange);
    answerError(response, error);
  }
}

async function route(ports: HttpPorts, exchange: Exchange): Promise<void> {
  checkOrigin(exchange.request);
  const url = targetOf(exchange.request, ports.allowsHost);
  const queryStart = url.indexOf('?');
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  const query = queryStart === -1 ? '' : url.slice(queryStart + 1);
  if (path !== anyHostPath) checkHost(exchange.request.headers.host, ports.allowsHost);
  const newcomer = path === statusPath ? newcomerStatus(ports.status, ports.guard) : null;
  if (newcomer !== null) {
    checkReading(exchange.request);
    return answerJson(exchange.response, 200, newcomer);
  }
  const credential = credentialOf(exchange.request);
  if (ports.guard.demands) {
    const { method = '', headers } = exchange.request;
    ports.guard.require(credential, httpNeeds(method, { path, query }, headers));
  }
  const match = /^\/v1\/([^/]+)\/(.*)$/s.exec(path);
  if (match?.[1] === 'rings') {
    checkReading(exchange.request);
    return answerRing(ports.status, { ...exchange, name: match[2] ?? '', query });
  }
  if (match?.[1] === 'duty') {
    checkReading(exchange.request);
    return answerDuty(ports.status, exchange.response, match[2] ?? '');
  }
  if (match?.[1] === inspectSegment) return answerInspect(ports.status, match[2] ?? '', exchange);
  if (match !== null) {
    const end = ports.metrics.requestSeconds.startTimer({ method: exchange.request.method ?? '' });
    exchange.response.once('close', () => end({ status: exchange.response.statusCode }));
    const target = { keyspace: match[1] ?? '', keyPath: match[2] ?? '', query };
    if (target.keyspace === batchSegment) {
      const requireItem = (needs: readonly Need[]): void => ports.guard.require(credential, needs);
      return answerBatch({ ...ports, requireItem }, { keyspace: target.keyPath, query }, exchange);
    }
    const segment = target.keyspace;
    if (segment === listSegment || segment === scanSegment) {
      const scanTarget = { keyspace: target.keyPath, segment, query };
      return answerScan(ports.coordinator, scanTarget, exchange);
    }
    return answerKey(ports, target, exchange);
  }
  const isKnown = ports.guard.allowsTo(credential, role('metrics', 'operator'));
  return answerService(ports, { ...exchange, path, query, isKnown });
}

/**
 * Returns the path and query of the request. A request through a proxy names the server in the URL
 * too (RFC 9112, 3.2.2). Throws HOST_UNKNOWN.
 */
function targetOf({ url = '/' }: IncomingMessage, allowsHost: HttpPorts['allowsHost']): string {
  if (url.startsWith('/')) return url;
  const [, host, target] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? [];
  if (target === undefined) return url;
  checkHost(host, allowsHost);
  return target.startsWith('/') ? target : `/${target}`;
}
/**
 * Answers under any host name, so that load balancers can use it: it says only that a server is
 * here.
 */
const anyHostPath = '/healthz';
const statusPath = '/v1/status';

/** Throws METHOD_UNKNOWN for methods other than GET and HEAD on a resource that is read-only. */
function checkReading(request: IncomingMessage): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const hint = 'this resource is read-only; write keys at /v1/KEYSPACE/KEY';
  throw methodUnknown(request, { allow: ['GET', 'HEAD'], hint });
}

async function answerService(
  ports: HttpPorts,
  exchange: Exchange & { readonly path: string; readonly query: string; readonly isKnown: boolean },
): Promise<void> {
  const { request, response, path, query, isKnown } = exchange;
  if (isService(path)) checkReading(request);
  switch (path) {
    case '/healthz':
      return answerJson(response, 200, { ok: true });
    case '/readyz': {
      // Only callers with permission learn which rings are here.
      const ring = new URLSearchParams(query).get('ring');
      const isHere = ports.status.rings.list().some((active) => active.ring.keyspace === ring);
      if (!isKnown && ring !== null && !isHere) return answerJson(response, 503, { ready: false });
      const { status, guard, proven, reconnects } = ports;
      const state = readyAnswer({ ...status, guard, proven, reconnects }, ring);
      const body = isKnown ? state : { ready: state.ready };
      return answerJson(response, state.ready ? 200 : 503, body);
    }
    case statusPath: {
      const tokensUsed = Object.fromEntries(ports.guard.lastUse);
      return answerJson(response, 200, {
        ...(await statusDocument(ports.status, query)),
        tokensUsed,
      });
    }
    case '/metrics': {
      const { store, rings } = ports.status;
      const disk = await diskStatus(ports.status);
      const infos = store.list();
      const status = serverStatus(ports.status, infos);
      measureStatus(ports.metrics, { status, infos, disk, unreadable: rings.unreadable() });
      const text = Buffer.from(await ports.metrics.registry.metrics());
      const headers = { 'content-type': ports.metrics.registry.contentType };
      return answerBytes(response, text, { status: 200, headers });
    }
    default:
      throw new CodedError('PATH_UNKNOWN', `no resource at ${path}`, {
        hint: 'keys are at /v1/KEYSPACE/KEY, the status of the server is at /v1/status',
      });
  }
}

/**
 * Returns the status. ?sizes=RING adds, for each partition of that ring here, the bytes of its
 * values, the bytes of its file, and its requests per second. ?middle=RING/PARTITION adds the place
 * at which a split would halve that partition.
 */
async function statusDocument(status: StatusPorts, query: string): Promise<object> {
  const disk = await diskStatus(status);
  const ring = new URLSearchParams(query).get('sizes');
  const sizesOf = async (name: string) => ({
    sizes: partitionSizes(status, name),
    files: await status.store.disk.fileBytes(name),
    rates: status.store.requests.rates(name),
  });
  const sizes = ring === null ? {} : await sizesOf(ring);
  return { ...serverStatus(status), disk, ...sizes, ...(await middleFor(status, query)) };
}

async function middleFor({ rings, store }: StatusPorts, query: string): Promise<object> {
  const [name, partition = ''] = new URLSearchParams(query).get('middle')?.split('/') ?? [];
  if (name === undefined || !/^\d{1,9}$/.test(partition)) return {};
  const { ring } = rings.get(checkKeyspaceName(name));
  return { middle: await estimateMedian(store, ring, Number(partition)) };
}

/** `path`: RING/PARTITION. */
function answerDuty(ports: StatusPorts, response: ServerResponse, path: string): void {
  const [ring = '', partition = ''] = path.split(/\/(.*)/s);
  const active = ports.rings.get(checkKeyspaceName(ring));
  answerJson(response, 200, partitionDuty(ports, active, partition));
}

/** Answers the active ring: its head as JSON, or with ?format=file the ring file itself. */
function answerRing(
  { rings }: StatusPorts,
  { response, name, query }: Exchange & { readonly name: string; readonly query: string },
): void {
  const active = rings.get(checkKeyspaceName(name));
  if (new URLSearchParams(query).get('format') === 'file') {
    const headers = { 'content-type': 'application/octet-stream' };
    answerBytes(response, active.bytes, { status: 200, headers });
    return;
  }
  const { keyspace, cluster, version, parent, partitioner, partitions, replicas, devices, moves } =
    active.ring;
  const head = { ring: keyspace, cluster, version, id: active.id, parent };
  answerJson(response, 200, {
    ...head,
    partitioner: partitionerSettings(partitioner),
    partitions,
    replicas,
    devices,
    moves,
  });
}
