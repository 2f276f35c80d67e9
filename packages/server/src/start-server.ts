// Starts a server: opens the store, loads its rings, wires the parts by hand, listens.
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { replicationIntervalMs } from '@ringwright/base/limits';
import { openStore } from '@ringwright/partition/open-store';
import type { Store } from '@ringwright/partition/store';
import type { CallHandler } from '@ringwright/wire/call-channel';
import type { Logger } from 'pino';
import type { ActiveRing } from './active-ring.ts';
import type { CoordinatorPorts } from './coordinate.ts';
import { CopySource } from './copy-answers.ts';
import { deviceCaller } from './device-caller.ts';
import { type DeviceIdentity, loadIdentity } from './device-identity.ts';
import { fillHandlers } from './handlers.ts';
import { createHttp } from './http.ts';
import { InFlight } from './in-flight.ts';
import { greet, type IntroducePorts } from './introduce.ts';
import { createMetrics } from './metrics.ts';
import { Mover } from './mover.ts';
import { joinAddress, type ServerOptions, splitAddress } from './options.ts';
import { PeerMemory } from './peer-memory.ts';
import { Peers } from './peers.ts';
import { Replicator } from './replicate.ts';
import { RingExchange } from './ring-exchange.ts';
import { followRingFiles } from './ring-files.ts';
import { loadShelf } from './ring-shelf.ts';
import { Rings } from './rings.ts';
import { serverStatus } from './status.ts';
import { acceptWire } from './wire-endpoint.ts';

export interface RunningServer {
  /** `ip:port` it listens on. */
  readonly address: string;
  /** Stops taking requests, ends what is under way, checkpoints and closes the store. */
  close(): Promise<void>;
}

interface Opened {
  readonly identity: DeviceIdentity;
  readonly store: Store;
  readonly memory: PeerMemory;
}

/**
 * Resolves when requests are answered. Throws LISTEN_FAILED, DATA_DIR_IN_USE,
 * DATA_DIR_OF_ANOTHER_DEVICE.
 * `onFailure` is told once when the store fails: the process should end and start again from disk.
 */
export async function startServer(
  options: ServerOptions,
  { log, onFailure }: { readonly log: Logger; readonly onFailure: (error: unknown) => void },
): Promise<RunningServer> {
  const opened = await openDevice(options, onFailure);
  try {
    return await runServer(options, opened, log);
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

async function openDevice(
  options: ServerOptions,
  onFailure: (error: unknown) => void,
): Promise<Opened> {
  const address = splitAddress(options.listen);
  const identity = await loadIdentity(options.data, address, options.device);
  const newIncarnation = (): string => randomBytes(12).toString('hex');
  const store = await openStore({ directory: options.data, newIncarnation, onFailure });
  return { identity, store, memory: await PeerMemory.load(options.data) };
}

async function runServer(
  options: ServerOptions,
  { identity, store, memory }: Opened,
  log: Logger,
): Promise<RunningServer> {
  const nowMs = (): number => Date.now();
  const clock = new HybridClock(nowMs);
  clock.observe({ ms: store.highestMs(), tie: 0 });
  const inFlight = new InFlight();
  const metrics = createMetrics();
  const handlers = new Map<string, CallHandler>();
  const strangers = new Set<string>();

  const onActivate = (active: ActiveRing): void => {
    const { keyspace, version } = active.ring;
    log.info({ ring: keyspace, version, id: active.id, device: active.self }, 'ring activated');
    metrics.ringVersion.set({ ring: keyspace }, version);
    activated.add(keyspace);
    setImmediate(reviewActivated);
  };
  const activated = new Set<string>();
  const reviewActivated = (): void => {
    for (const keyspace of activated) mover.review(keyspace);
    activated.clear();
  };
  const shelf = { directory: join(options.data, 'rings') };
  const shelved = await loadShelf(shelf, (file, error) =>
    log.error({ file, error }, 'ring file damaged'),
  );
  const rings = new Rings({ shelf, identity, nowMs, onActivate }, shelved);
  const exchange = new RingExchange(rings);

  const introduce: IntroducePorts = {
    identity,
    rings,
    exchange,
    memory,
    clock,
    nowMs,
    strangers,
    settled: () => serverStatus(statusPorts).ready,
    onRingRefused: (from, error) => {
      if (error instanceof CodedError) metrics.ringRefusals.inc({ code: error.code });
      log.warn({ from, error }, 'ring of a peer refused');
    },
  };
  const peers = new Peers({
    handlers,
    nowMs,
    greet: (address, caller) => greet(introduce, address, caller),
    onConnect: () => {
      replicator.forget();
      for (const active of rings.list()) mover.review(active.ring.keyspace);
    },
  });
  const devices = deviceCaller({ peers, handlers });
  const mover = new Mover({
    store,
    devices,
    inFlight,
    current: (keyspace) => rings.get(keyspace),
    isStranger: (active, device) => {
      const peer = active.ring.devices[device];
      return peer != null && strangers.has(joinAddress(peer));
    },
    onError: (step, error) => log.warn({ ...step, error }, 'duty failed, will be tried again'),
  });
  const replicator = new Replicator({
    store,
    devices,
    nowMs,
    onPushed: (rows) => metrics.replicatedRows.inc(rows),
    onError: (device, error) => log.debug({ device, error }, 'replication waits'),
  });
  const replica = {
    store,
    exchange,
    clock,
    inFlight,
    opened: (keyspace: string) => mover.settled(keyspace),
  };
  fillHandlers(handlers, { replica, introduce, copies: new CopySource(replica, nowMs) });

  const statusPorts = { identity, rings, store, mover, peers, startedMs: nowMs(), nowMs };
  const coordinator: CoordinatorPorts = {
    rings,
    devices,
    clock,
    catchUp: (active, device) => {
      const peer = active.ring.devices[device];
      if (peer == null) return Promise.resolve();
      return exchange.catchUp(active.ring.keyspace, peers.connect(joinAddress(peer)));
    },
  };
  const onBug = (error: unknown): void => log.error({ error }, 'request failed');
  const http = createHttp({ coordinator, status: statusPorts, metrics, onBug });
  const closeWire = acceptWire(http, handlers);
  await listen(http, options.listen);
  const stopFollowing = await followRingFiles(
    {
      adopt: (bytes) => rings.adopt(bytes),
      onRefusal: (file, error) => log.warn({ file, error }, 'ring file refused'),
    },
    { folder: options.rings, files: options.ring },
  );
  const stopReplicating = repeat(async () => {
    for (const active of rings.list()) await replicator.round(active);
  }, replicationIntervalMs);
  log.info({ address: options.listen, data: options.data }, 'listening');

  return {
    address: options.listen,
    async close() {
      stopFollowing();
      mover.close();
      closeWire();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await stopReplicating();
      peers.close();
      await memory.close();
      await store.close();
    },
  };
}

function listen(http: Server, address: string): Promise<void> {
  const { ip, port } = splitAddress(address);
  return new Promise((resolve, reject) => {
    http.once('error', (cause: NodeJS.ErrnoException) => {
      const hint =
        cause.code === 'EADDRINUSE'
          ? 'another program listens there; stop it or choose another --listen'
          : 'give --listen an address of this machine';
      const message = `cannot listen on ${address}: ${cause.message}`;
      reject(new CodedError('LISTEN_FAILED', message, { hint, details: { address }, cause }));
    });
    http.listen(port, ip, resolve);
  });
}

/**
 * Runs `work` again and again with a pause between; the function returned ends it and waits for the
 * last run.
 */
function repeat(work: () => Promise<void>, pauseMs: number): () => Promise<void> {
  let ended = false;
  let wake: () => void = () => undefined;
  const loop = async (): Promise<void> => {
    while (!ended) {
      await work();
      if (ended) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return async () => {
    ended = true;
    wake();
    await running;
  };
}
