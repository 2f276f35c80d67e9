// The target of a load: one of four clients, with lanes in which calls are sequential.
import { must } from '@ringwright/base/assert';
import { connect } from '@ringwright/client/connect';
import { EtcdConnection } from '../peers/etcd-connection.ts';
import { keyspace } from '../peers/ring-cluster.ts';
import { type HttpAnswer, HttpConnection } from './http-connection.ts';

export interface Lane {
  readonly put: (key: string, value: Buffer) => Promise<void>;
  /** Returns the length of the value; null when there is none. */
  readonly get: (key: string) => Promise<number | null>;
}

interface LoadTarget {
  readonly lanes: readonly Lane[];
  readonly close: () => void | Promise<void>;
}

/**
 * `client` is this project's package and `etcd-grpc` is etcd's own protocol, each over one
 * connection per server. `http` and `etcd-http` (etcd's JSON gateway) use one HTTP connection per
 * lane.
 */
export type TargetKind = 'client' | 'http' | 'etcd-grpc' | 'etcd-http';

export function openTarget(
  kind: TargetKind,
  addresses: readonly string[],
  laneCount: number,
): Promise<LoadTarget> {
  switch (kind) {
    case 'client':
      return clientTarget(addresses, laneCount);
    case 'etcd-grpc':
      return etcdTarget(addresses, laneCount);
    case 'http':
      return httpTarget(addresses, laneCount, ringwrightLane);
    case 'etcd-http':
      return httpTarget(addresses, laneCount, gatewayLane);
  }
}

async function clientTarget(addresses: readonly string[], laneCount: number): Promise<LoadTarget> {
  const client = await connect(addresses, { keyspace });
  const lane: Lane = {
    put: async (key, value) => void (await client.put(key, value)),
    get: async (key) => (await client.get(key))?.value.length ?? null,
  };
  return { lanes: Array.from({ length: laneCount }, () => lane), close: () => client.close() };
}

async function etcdTarget(addresses: readonly string[], laneCount: number): Promise<LoadTarget> {
  const members = await Promise.all(addresses.map((address) => EtcdConnection.to(address)));
  return {
    lanes: Array.from({ length: laneCount }, (_, index) => inTurn(members, index)),
    close: () => {
      for (const member of members) member.close();
    },
  };
}

async function httpTarget(
  addresses: readonly string[],
  laneCount: number,
  laneOver: (connection: HttpConnection) => Lane,
): Promise<LoadTarget> {
  const connections = await Promise.all(
    Array.from({ length: laneCount }, (_, index) => HttpConnection.to(inTurn(addresses, index))),
  );
  return {
    lanes: connections.map(laneOver),
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}

function ringwrightLane(connection: HttpConnection): Lane {
  return {
    put: async (key, value) => {
      const path = `/v1/${keyspace}/${key}`;
      const answer = await connection.ask({ method: 'PUT', path, body: value });
      // Two lanes may write one key through two servers: 409 means that the other write won.
      if (answer.status !== 204 && answer.status !== 409) throw unexpected(`PUT ${path}`, answer);
    },
    get: async (key) => {
      const path = `/v1/${keyspace}/${key}`;
      const answer = await connection.ask({ method: 'GET', path });
      if (answer.status === 404) return null;
      if (answer.status !== 200) throw unexpected(`GET ${path}`, answer);
      return answer.body.length;
    },
  };
}

function gatewayLane(connection: HttpConnection): Lane {
  const post = async (path: string, document: unknown): Promise<Buffer> => {
    const body = Buffer.from(JSON.stringify(document));
    const answer = await connection.ask({ method: 'POST', path, body });
    if (answer.status === 200) return answer.body;
    throw unexpected(path, answer);
  };
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  return {
    put: async (key, value) => {
      await post('/v3/kv/put', { key: encoded(key), value: value.toString('base64') });
    },
    get: async (key) => {
      const answer = await post('/v3/kv/range', { key: encoded(key) });
      const { kvs } = JSON.parse(answer.toString()) as { kvs?: { value: string }[] };
      return kvs?.[0] === undefined ? null : Buffer.from(kvs[0].value, 'base64').length;
    },
  };
}

function unexpected(what: string, { status, body }: HttpAnswer): Error {
  return new Error(`${what} was answered with ${status}: ${body.toString()}`);
}

function inTurn<Item>(items: readonly Item[], index: number): Item {
  return must(items[index % items.length], 'a load goes to at least one address');
}
