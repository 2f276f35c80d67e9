// Starts a server: opens the directory, assembles the parts and listens. Also ends all of it in
// order.

import type { IncomingMessage, Server } from 'node:http';
import { hostname } from 'node:os';
import { anyToken, role } from '@ringwright/access/need';
import {
  redisConnectionsMax,
  replicationIntervalMs,
  replicationRingsAtOnce,
} from '@ringwright/base/limits';
import { throttleRoundMs, trashPercentMax, trashTickMs } from '@ringwright/base/limits-copies';
import { httpEndLookMs, httpEndMsMax } from '@ringwright/base/limits-listeners';
import { httpConnectionsMax, peerGreetMs, wireConnectionsMax } from '@ringwright/base/limits-rings';
import { leavingMsMax, scrubTickMs, tombstoneRoundMs } from '@ringwright/base/limits-store';
import { splitAddress } from '@ringwright/base/server-address';
import { checkAccess } from '@ringwright/head-store/etcd-request';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { machineLimits } from '@ringwright/node/machine-limits';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import type { Device } from '@ringwright/ring/device';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import type { Caller } from '@ringwright/wire/call-channel';
import type { Logger } from 'pino';
import { connectionShare } from './access/connection-share.ts';
import { credentialOf, readServerToken } from './access/credential.ts';
import { logTrust } from './assemble-rings.ts';
import { assembleServer, type ServerParts } from './assemble-server.ts';
import { ClientCertificates } from './client-certificates.ts';
import { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { prepareDataDirectory } from './device/data-directory.ts';
import { followRings } from './follow-rings.ts';
import { allowedHosts } from './http/check-request.ts';
import { createHttp } from './http/http.ts';
import { acceptWire } from './http/wire-endpoint.ts';
import { addressesOf, listen, listenAddressesOf, redisAddress, requireFree } from './listen.ts';
import { noteListening } from './listening-file.ts';
import {
  type DeviceSurroundings,
  type OpenedDevice,
  openDevice,
  startFailure,
} from './open-device.ts';
import type { ServerOptions } from './options.ts';
import { PortSecurity } from './port-security.ts';
import { createRedis } from './redis/redis-endpoint.ts';
import { raiseFloors } from './repair/raise-floor.ts';
import { repeat, repeatEach } from './repeat.ts';
import { isInsecure, requireSecure } from './require-secure.ts';
import { requireSources } from './rings/ring-files.ts';

export interface RunningServer {
  /**
   * Stops taking requests and ends the work under way quickly, for a process that exits next.
   * Resolves to whether all data has reached the partition files; if not, the next start replays
   * the log.
   */
  leave(): Promise<boolean>;
}

/**
 * Resolves when requests are answered. Throws USAGE, INSECURE_LISTEN, RINGS_UNKNOWN, FILE_UNFIT,
 * TLS_BUNDLE_INVALID, LISTEN_FAILED, DISK_FULL, DISK_FAILED and what prepareDataDirectory,
 * loadIdentity and openStore throw. On failure, everything that was opened is closed again.
 */
export async function startServer(
  options: ServerOptions,
  { log, onFailure }: DeviceSurroundings,
): Promise<RunningServer> {
  if (options.store !== undefined) openHeadStore(options.store);
  requireSecure(options);
  await checkAccess(options.storeAccess);
  await requireSources({ folder: options.rings, files: options.ring });
  await requireFree(addressesOf(options));
  // Closes what was opened, in reverse order.
  const opened = new AsyncDisposableStack();
  try {
    for (const note of await prepareDataDirectory(options.data, options)) {
      log.warn({ path: note.path, mode: note.mode }, note.message);
    }
    const device = await openDevice(options, { log, onFailure });
    let isAllWritten = true;
    opened.defer(async () => {
      isAllWritten = await device.store.leave(leavingMsMax);
    });
    await runServer(options, { device, opened, log });
    const leave = async (): Promise<boolean> => {
      await opened.disposeAsync();
      return isAllWritten;
    };
    return { leave };
  } catch (error) {
    await opened.disposeAsync().catch((also: unknown) => log.error({ error: also }, 'not closed'));
    throw await startFailure(error, options.data);
  }
}

interface Running {
  readonly device: OpenedDevice;
  /** Collects the functions that close the parts. */
  readonly opened: AsyncDisposableStack;
  readonly log: Logger;
}

async function runServer(options: ServerOptions, { device, opened, log }: Running): Promise<void> {
  const token = await readServerToken(options.tokenFile);
  const certificates = await ClientCertificates.open(options.clientCa, log);
  opened.defer(() => certificates.close());
  const isStrict = token !== null || options.clientCa !== undefined;
  const throttle = AdaptiveThrottle.of(device.store, options.copyRate ?? null);
  const surroundings = { device: device.tls, log, nowMs };
  const security = await PortSecurity.open(options.tls, surroundings);
  const { demandsTls } = security;
  const insecure = isInsecure(options);
  const parts = await assembleServer(device, {
    log,
    throttle,
    token,
    certificates,
    isStrict,
    demandsTls,
    certificate: () => security.shown,
    insecure,
    operatorListen: options.operatorListen ?? null,
  });
  logTrust(device.trust, parts.rings.list(), log);
  parts.metrics.insecureListen.set(insecure ? 1 : 0);
  const stopRounds: (() => Promise<void>)[] = [];
  // The store closes after these parts, because each of them may still write to it.
  opened.defer(() => parts.stamps.close());
  opened.defer(() => device.memory.close());
  opened.defer(() => device.audit.flush());
  opened.defer(() => parts.copies.close());
  opened.defer(async () => {
    for (const stop of stopRounds) await stop();
  });
  opened.defer(() => throttle.close());
  // Rejects the calls under way, so that the current replication round ends at once.
  opened.defer(() => parts.peers.close());
  opened.defer(() => parts.reconciler.close());
  const allowsHost = allowedHosts(hostNames(options));
  const addresses = listenAddressesOf(options);
  const share = shareOfConnections(addresses.length, log);
  const endpoints = addresses.map((address) => {
    return { address, http: createHttp({ ...parts, allowsHost, share }) };
  });
  opened.defer(() => security.close());
  opened.defer(async () => void (await Promise.all(endpoints.map(({ http }) => endHttp(http)))));
  const wireEnds = endpoints.map(({ http }) => {
    const end = openWire(http, parts, share);
    security.guard(http, share);
    return end;
  });
  opened.defer(async () => void (await Promise.all(wireEnds.map((end) => end()))));
  await parts.meetHolders();
  parts.awaitPeers();
  for (const { http, address } of endpoints) await listen(http, address);
  const onTrouble = (error: unknown): void =>
    log.warn({ error }, 'server.json not written: inspect will not find this server by itself');
  const listenAddress = options.operatorListen ?? options.listen;
  opened.defer(await noteListening(options.data, listenAddress, onTrouble));
  opened.defer(await openRedis(options, parts, { security, log, share }));
  opened.defer(await followRings(options, (bytes) => parts.rings.adopt(bytes), log));
  stopRounds.push(...repeatRounds({ ...parts, throttle }));
  stopRounds.push(repeat(() => tidy(options, { ...device, ...parts, log }), trashTickMs));
  const key = spkiOf(device.key);
  const logFields = { data: options.data, key, fingerprint: keyIdOf(key) };
  log.info({ address: options.listen, ...logFields }, 'listening');
}

function shareOfConnections(ports: number, log: Logger): number {
  const share = connectionShare(ports, machineLimits());
  if (share < 1) {
    const connections = Math.ceil(httpConnectionsMax * share);
    log.info({ connections }, 'few descriptors limit connections: raise ulimit -n or LimitNOFILE=');
  }
  return share;
}

function openWire(http: Server, parts: ServerParts, share: number): () => Promise<void> {
  const ports = {
    ...parts.answers,
    onProven: parts.proven.accept.bind(parts.proven),
    onChannel: showsTo(parts),
    isKnown: knows(parts),
    isPowerless: (caller: Caller) => !parts.guard.allows(caller, anyToken),
  };
  return acceptWire(http, ports, Math.ceil(wireConnectionsMax * share));
}

/**
 * Returns whether a request comes from a known caller: by its token or certificate where access is
 * controlled, or by an IP address that a ring names.
 */
function knows({ guard, rings }: ServerParts): (request: IncomingMessage) => boolean {
  const peerOrOperator = role('peer', 'operator');
  return (request) => {
    if (guard.demands && guard.allowsTo(credentialOf(request), peerOrOperator)) return true;
    const ip = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    const isAtIp = (device: Device | null): boolean =>
      device !== null && (device.ip === ip || device.replication?.ip === ip);
    return rings.list().some(({ ring }) => ring.devices.some(isAtIp));
  };
}

/** Returns a function that links a connection to the credential of the request that opened it. */
function showsTo({
  guard,
  proven,
}: ServerParts): (channel: Caller, request: IncomingMessage) => void {
  return (channel, request) => {
    // A key that a ring names counts like a token with the role peer.
    guard.show(channel, { ...credentialOf(request), isPeer: () => proven.isMember(channel) });
  };
}

/** Starts the periodic work of a server. Returns the functions that end it. */
function repeatRounds({
  rings,
  replicator,
  floors,
  throttle,
  greetPeers,
  scrubber,
}: ServerParts & { readonly throttle: AdaptiveThrottle }): (() => Promise<void>)[] {
  const endScrub = repeat(() => scrubber.tick(), scrubTickMs);
  return [
    repeatEach(() => rings.list(), {
      nameOf: ({ ring }) => ring.keyspace,
      work: (active) => replicator.round(active),
      atOnce: replicationRingsAtOnce,
      pauseMs: replicationIntervalMs,
    }),
    repeat(async (signal) => {
      for (const active of rings.list()) await raiseFloors(floors, active, signal);
    }, tombstoneRoundMs),
    repeat(async () => throttle.round(), throttleRoundMs),
    repeat(greetPeers, peerGreetMs),
    async () => void endScrub(), // not awaited: the store ends the scrub of a long file
  ];
}

/** The host names by which HTTP clients may call this server. */
function hostNames({ listen: address, advertise, allowHost, ...rest }: ServerOptions): string[] {
  const addresses = [...listenAddressesOf({ listen: address, ...rest }), advertise ?? address];
  return [...addresses.map((item) => splitAddress(item).ip), hostname(), ...allowHost];
}

/** Releases idle copies and trims the trash. */
async function tidy(
  { trashHours, trashBytes }: ServerOptions,
  { store, copies, floors, log }: ServerParts & OpenedDevice & { readonly log: Logger },
): Promise<void> {
  try {
    await copies.releaseIdle();
    const { totalBytes } = await store.disk.free();
    const bytesMax = trashBytes ?? Math.floor((totalBytes * trashPercentMax) / 100);
    // Not by the time of a clock that is ahead: what is deleted here is gone.
    const beforeMs = floors.nowMs() - trashHours * 3_600_000;
    await store.trash.trim({ beforeMs, bytesMax });
  } catch (error) {
    log.warn({ error }, 'trash could not be checked');
  }
}

/** Opens the Redis port if the option is given. Returns a function that closes it. */
async function openRedis(
  { redisPort: port, redisKeyspace, redisConsistency, listen: address, device }: ServerOptions,
  ports: Omit<Parameters<typeof createRedis>[0], 'uptimeMs'>,
  { security, log, share }: { security: PortSecurity; log: Logger; share: number },
): Promise<() => Promise<void>> {
  if (port === undefined) return () => Promise.resolve();
  const keyspace = redisKeyspace ?? null;
  const settings = { device: device ?? address, port, keyspace, consistency: redisConsistency };
  const redis = createRedis(
    { ...ports, uptimeMs: monotonicMs },
    settings,
    Math.ceil(redisConnectionsMax * share),
  );
  if (security.demandsTls) security.guard(redis.server, share);
  await listen(redis.server, redisAddress(address, port));
  log.info({ port, keyspace }, 'listening for the Redis protocol');
  return () => redis.close();
}

/** Waits for the requests under way: a client that sent a write should not be left in doubt. */
async function endHttp(http: Server): Promise<void> {
  const idle = setInterval(() => http.closeIdleConnections(), httpEndLookMs);
  await new Promise<void>((resolve) => {
    const timeout = setTimeout(resolve, httpEndMsMax);
    http.close(() => {
      clearTimeout(timeout);
      resolve();
    });
  });
  clearInterval(idle);
  http.closeAllConnections();
}
