// Opens what a server has on disk, in order.

import { type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError, isDiskFull, otherLimits } from '@ringwright/base/disk-error';
import {
  diskCheckEveryMs,
  requestCountEveryMs,
  startLogEveryMs,
} from '@ringwright/base/limits-store';
import { programVersion } from '@ringwright/base/program-version';
import { splitAddress } from '@ringwright/base/server-address';
import { messageOf } from '@ringwright/base/thrown';
import { deviceIdentity } from '@ringwright/node/link/device-certificate';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { nowMs } from '@ringwright/node/system-clock';
import { dataPaths } from '@ringwright/partition/file/data-paths';
import type { OnStep } from '@ringwright/partition/file/start-step';
import { openStore } from '@ringwright/partition/open-store';
import type { Store } from '@ringwright/partition/store';
import { roomToStart } from '@ringwright/partition/store/room-to-start';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { Logger } from 'pino';
import { AuditLog } from './audit/audit-log.ts';
import { type ClockFile, openClockFile } from './clocks/stamp-issuer.ts';
import { DeviceGeneration } from './device/device-generation.ts';
import { type DeviceIdentity, loadIdentity } from './device/device-identity.ts';
import { loadDeviceKey } from './device/device-key.ts';
import { OnceComplete } from './device/once-complete.ts';
import { checkOwnedFolders, markOwnedFolders } from './device/owned-folders.ts';
import { CompleteFiles } from './moves/complete-files.ts';
import { MoveControls } from './moves/move-controls.ts';
import type { ServerOptions } from './options.ts';
import { PeerMemory } from './peers/peer-memory.ts';
import { AccessStore } from './trust/access-store.ts';
import { TrustStore } from './trust/trust-store.ts';

export interface DeviceSurroundings {
  readonly log: Logger;
  /** Called once when the store fails. The process should then exit and restart from disk. */
  readonly onFailure: (error: CodedError) => void;
}

/** What a server has on disk. It is opened before everything else, and closed after it. */
export interface OpenedDevice {
  readonly directory: string;
  readonly identity: DeviceIdentity;
  readonly generation: DeviceGeneration;
  readonly store: Store;
  readonly clockFile: ClockFile;
  readonly memory: PeerMemory;
  readonly trust: TrustStore;
  readonly access: AccessStore;
  readonly audit: AuditLog;
  readonly controls: MoveControls;
  readonly onceComplete: OnceComplete;
  readonly held: CompleteFiles;
  /** The device's private key: signs what this device states, such as receipts. */
  readonly key: KeyObject;
  /** The same key, with the certificate that is shown to other servers. */
  readonly tls: TlsIdentity;
}

function countNow(store: Store): void {
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (!store.requests.count(nowMs - lastMs)) clearInterval(timer);
    lastMs = nowMs;
  }, requestCountEveryMs);
  timer.unref();
}

/** A call that never returns fails nothing, so nothing else would be logged. */
function watchDisk(store: Pick<Store, 'disk'>, log: Pick<Logger, 'warn'>): void {
  let hasHung = false;
  const timer = setInterval(() => {
    const stall = store.disk.stall();
    const hangs = stall !== null;
    if (hangs === hasHung) return;
    hasHung = hangs;
    if (hangs)
      log.warn({ why: stall }, 'the disk hangs: this server stores nothing until it returns');
    else log.warn('the disk has returned: this server stores writes again');
  }, diskCheckEveryMs);
  timer.unref();
}

/** No port is open yet: without these lines, a long start looks like one that hangs. */
export function logSteps(log: Pick<Logger, 'info'>, monotonicMs = () => performance.now()): OnStep {
  let loggedMs = monotonicMs();
  return ({ doing, done, partitions }) => {
    if (monotonicMs() - loggedMs < startLogEveryMs) return;
    loggedMs = monotonicMs();
    // The log counts lines that differ only in long numbers as one.
    const percent = Math.floor((100 * done) / partitions);
    log.info({ done, partitions, percent }, `${doing}; requests are answered after the start`);
  };
}

export async function openDevice(
  { data, listen: address, advertise, device, trust: trustOption, ...rest }: ServerOptions,
  { log, onFailure }: DeviceSurroundings,
): Promise<OpenedDevice> {
  const identity = await loadIdentity(data, splitAddress(advertise ?? address), device);
  await checkOwnedFolders(data);
  const newIncarnation = (): string => randomBytes(12).toString('hex');
  const { copyListen, replicationListen } = rest;
  const { ip: host } = splitAddress(copyListen ?? replicationListen ?? address);
  const copies = { host, port: copyListen === undefined ? 0 : splitAddress(copyListen).port };
  const onStep = logSteps(log);
  const store = await openStore({ directory: data, newIncarnation, onFailure, copies, onStep });
  countNow(store);
  watchDisk(store, log);
  try {
    store.copies.parkProcesses();
    await markOwnedFolders(data);
    const generation = await DeviceGeneration.begin(data, identity.born);
    const memory = await PeerMemory.load(data);
    const clockFile = await openClockFile(data);
    const onTrouble = (error: unknown): void => log.warn({ error }, 'audit log not written');
    const audit = await AuditLog.load({ data, nowMs, onTrouble });
    audit.noteOwn('start', `release ${programVersion}`);
    const onRoot = ({ root: { version, epoch, expires }, id: rootId }: Trust): void => {
      audit.noteOwn('trust', `root ${version}, ${rootId.slice(0, 12)}`);
      log.warn({ version, epoch, expires, id: rootId }, 'a newer root of trust is in force');
    };
    const trustPorts = { directory: join(data, 'trust'), nowMs, onRoot };
    const trust = await TrustStore.load(trustPorts, trustOption);
    const access = await AccessStore.load({ ...trustPorts, trusts: () => trust.trusts() });
    const controls = await MoveControls.load(data);
    const onceComplete = await OnceComplete.load(data);
    onceComplete.keep(store.list());
    const held = await CompleteFiles.load(data);
    const key = await loadDeviceKey(data);
    return {
      ...{ directory: data, identity, generation, store, clockFile, memory, trust, access, audit },
      ...{ controls, onceComplete, held, key, tls: deviceIdentity(key) },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Returns why a server could not start: DISK_FULL with the space that a start needs, DISK_FAILED,
 * or the error itself if the disk is not the cause.
 */
export async function startFailure(error: unknown, directory: string): Promise<unknown> {
  if (!isDiskFull(error)) return diskError(error) ?? error;
  const { freeBytes, neededBytes, logBytes } = await roomToStart(directory);
  const free = `${freeBytes} bytes are free, a start needs ${neededBytes}`;
  const [problem, whatToDo] =
    freeBytes < neededBytes
      ? [`is full: ${free} (the log to be replayed has ${logBytes})`, 'free that much']
      : [`takes no more files: ${free}, but ${messageOf(error)}`, otherLimits];
  const message = `the disk of ${directory} ${problem}; nothing is lost`;
  return new CodedError('DISK_FULL', message, {
    hint: `${whatToDo}, then start again; dropped partitions are in ${dataPaths.trash(directory)}`,
    details: { directory, freeBytes, neededBytes, logBytes },
    cause: error,
  });
}
