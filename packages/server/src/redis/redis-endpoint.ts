// The port of the Redis protocol: accepts connections, counts them, and ends them all.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { redisConnectionsMax } from '@ringwright/base/limits';
import {
  httpEndMsMax,
  redisFirstRequestMsMax,
  redisHeldBytesMax,
  redisPerAddressMax,
  redisProbeMs,
} from '@ringwright/base/limits-listeners';
import { affordableBytes, ByteBudget } from '../access/byte-budget.ts';
import { ConnectionLimiter } from '../access/connection-limiter.ts';
import { credentialFrom } from '../access/credential.ts';
import type { Guard } from '../access/guard.ts';
import { refuseConnection } from '../access/refuse-connection.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RedisAbout, RedisClient, RedisSettings } from './redis-command.ts';
import { type ConnectionPorts, RedisConnection } from './redis-connection.ts';
import { ScanCursors } from './scan-cursors.ts';
import { TurnBudget } from './turn-budget.ts';

interface RedisEndpoint {
  readonly server: Server;
  /**
   * Ends each connection when the commands under way are answered: a client that sent an INCR
   * should not be left in doubt. Waits at most httpEndMsMax. A connection that comes later, because
   * its TLS handshake was under way, ends at once.
   */
  close(): Promise<void>;
}

interface EndpointPorts {
  readonly guard: Guard;
  readonly coordinator: CoordinatorPorts;
  readonly metrics: Metrics;
  readonly uptimeMs: () => number;
  readonly onBug: (error: unknown) => void;
}

// Half-open connections stay until their answers have been sent: `redis-cli < file` closes first.
const socketOptions = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: redisProbeMs };
const limiterOptions = { reserved: 0, perAddressMax: redisPerAddressMax };

/** Does not listen yet. The caller does, so that a port in use is reported like any other. */
export function createRedis(
  ports: EndpointPorts,
  settings: RedisSettings,
  connectionsMax = redisConnectionsMax,
): RedisEndpoint {
  const { metrics, uptimeMs } = ports;
  const connections = new Map<Socket, RedisConnection>();
  const limiter = new ConnectionLimiter({ max: connectionsMax, ...limiterOptions });
  const budget = new ByteBudget(affordableBytes(redisHeldBytesMax));
  let [nextId, commands, isClosed] = [1, 0, false];
  const counts = { connections: () => connections.size, commands: () => commands };
  const about: RedisAbout = { ...settings, uptimeMs, ...counts };
  const timerOf = timersOf(metrics);
  const turns = new TurnBudget();
  const connectionPorts: ConnectionPorts = {
    guard: ports.guard,
    coordinator: ports.coordinator,
    cursors: new ScanCursors(),
    about,
    onCommand: (name, seconds) => {
      commands += 1;
      timerOf(name).observe(seconds);
    },
    onProtocolError: () => metrics.redisProtocolErrors.inc(),
    onBug: ports.onBug,
  };
  const server = createServer(socketOptions, (socket) => {
    if (isClosed) return void socket.destroy();
    let redisConnection: RedisConnection | null = null;
    const end = (): void => void socket.destroy();
    const admission = limiter.admit({
      address: socket.remoteAddress ?? '',
      isKnown: () => false,
      isBusy: () => redisConnection?.isBusy === true,
      end,
    });
    if (admission === null) {
      refuseConnection(socket, '-ERR max number of clients reached\r\n');
      return;
    }
    const held = budget.connection(end);
    const firstRequestTimer = setTimeout(end, redisFirstRequestMsMax);
    socket.once('close', () => {
      clearTimeout(firstRequestTimer);
      connections.delete(socket);
      admission.leave();
      held.leave();
      metrics.redisConnections.set(connections.size);
    });
    const onRequest = (): void => {
      clearTimeout(firstRequestTimer);
      admission.used();
    };
    const share = { held, onRequest, turns };
    const client = newClient(nextId++, socket, settings);
    redisConnection = new RedisConnection(socket, client, { ...connectionPorts, ...share });
    connections.set(socket, redisConnection);
    metrics.redisConnections.set(connections.size);
  });
  return {
    server,
    close: async () => {
      isClosed = true;
      server.close();
      await endAll(connections);
    },
  };
}

async function endAll(connections: ReadonlyMap<Socket, RedisConnection>): Promise<void> {
  const ended = [...connections.keys()].map((socket) => once(socket, 'close'));
  for (const connection of connections.values()) connection.leave();
  await Promise.race([Promise.allSettled(ended), delay(httpEndMsMax, null, { ref: false })]);
  for (const socket of connections.keys()) socket.destroy();
}

interface Timer {
  readonly observe: (seconds: number) => void;
}

/** Caches the timer of each command name. */
function timersOf({ redisSeconds }: Metrics): (command: string) => Timer {
  const timers = new Map<string, Timer>();
  return (command) => {
    const timer = timers.get(command) ?? redisSeconds.labels({ command });
    timers.set(command, timer);
    return timer;
  };
}

function newClient(id: number, socket: Socket, { consistency }: RedisSettings): RedisClient {
  const address = `${socket.remoteAddress}:${socket.remotePort}`;
  const credential = credentialFrom(address, null, socket);
  const fields = { id, address, name: '', keyspace: null, credential };
  return { ...fields, consistency, protocol: 2, isInRefused: false };
}
