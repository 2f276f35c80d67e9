// Devices with real stores in scratch folders, connected in memory: the real handlers without
// sockets.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { openStore } from '@ringwright/partition/open-store';
import type { Store } from '@ringwright/partition/store';
import type { Ring } from '@ringwright/ring/ring';
import { CopySource } from '@ringwright/server/copies/copy-answers';
import { CopyThrottle } from '@ringwright/server/copies/copy-throttle';
import { PartialCopies } from '@ringwright/server/copies/partial-copies';
import { freeThrottle } from '@ringwright/server/copies/throttle-control';
import type { DeviceCaller } from '@ringwright/server/peers/device-caller';
import { answerFloorPromise, answerFloorRaise } from '@ringwright/server/replica/floor-answers';
import { InFlight } from '@ringwright/server/replica/in-flight';
import { answerKeys } from '@ringwright/server/replica/list-answers';
import { LongReads } from '@ringwright/server/replica/long-reads';
import type { ReplicaPorts } from '@ringwright/server/replica/replica';
import { answerRead, answerStamp, answerWrite } from '@ringwright/server/replica/replica';
import {
  answerDigests,
  answerOffer,
  answerPromises,
  answerPush,
  answerRows,
  answerTail,
} from '@ringwright/server/replica/replication-answers';
import { RoundQueue } from '@ringwright/server/replica/round-queue';
import { type ActiveRing, ringHead } from '@ringwright/server/rings/active-ring';
import type { RingExchange } from '@ringwright/server/rings/ring-exchange';
import type { Caller } from '@ringwright/wire/call-channel';
import { messageKinds } from '@ringwright/wire/messages';
import { scratchFolder } from './scratch-folder.ts';
import { activeOn } from './served-ring.ts';
import { writeByCall } from './write-by-call.ts';

const nowMs = (): number => 1_763_692_800_000;
/** The first stamp of the records, older than the minimum age for replication. */
export const firstMs = nowMs() - 60_000;

type Answer = (request: never, caller: Caller) => unknown;

export class StoreDevice {
  readonly id: number;
  readonly store: Store;
  readonly inFlight = new InFlight();
  readonly throttle = new CopyThrottle(nowMs);
  readonly partial = new PartialCopies();
  readonly replica: ReplicaPorts;
  readonly copies: CopySource;
  readonly devices: DeviceCaller;
  /** No device makes promises here. Rounds have tests of their own. */
  readonly decide = () => Promise.reject(new Error('there is no promise to decide'));
  active: ActiveRing;
  up = true;
  /** Whether copies travel from process to process. */
  hasProcess = false;
  /** Called before this device answers, so that a test can change the world in the middle. */
  onCall: (method: string, timeoutMs: number) => void | Promise<void> = () => undefined;
  /** Changes or replaces an answer on its way. */
  onAnswer: (method: string, answer: unknown) => unknown = (_method, answer) => answer;
  readonly #answers: ReadonlyMap<string, Answer>;

  constructor(cluster: StoreCluster, store: Store, id: number) {
    this.id = id;
    this.store = store;
    this.active = activeOn(cluster.first, id);
    const reach = (_keyspace: string, version: number): Promise<ActiveRing> => {
      if (this.active.ring.version < version) this.active = activeOn(cluster.ringOf(version), id);
      return Promise.resolve(this.active);
    };
    this.replica = {
      store,
      exchange: { reach, reached: () => null } as unknown as RingExchange,
      clock: new HybridClock(nowMs),
      inFlight: this.inFlight,
      longReads: new LongReads(),
      rounds: new RoundQueue(),
      opened: () => Promise.resolve(),
    };
    const giving = { throttle: this.throttle, loadThrottle: () => freeThrottle };
    this.copies = new CopySource({ ...this.replica, monotonicMs: nowMs, ...giving });
    const { replica, copies } = this;
    const kinds = messageKinds;
    this.#answers = new Map<string, Answer>([
      [kinds.recordWrite.method, (request, caller) => answerWrite(replica, request, caller)],
      [kinds.recordRead.method, (request, caller) => answerRead(replica, request, caller)],
      [kinds.recordStamp.method, (request, caller) => answerStamp(replica, request, caller)],
      [
        kinds.floorPromise.method,
        (request, caller) => answerFloorPromise(replica, request, caller),
      ],
      [kinds.floorRaise.method, (request, caller) => answerFloorRaise(replica, request, caller)],
      [kinds.digests.method, (request, caller) => answerDigests(replica, request, caller)],
      [kinds.tail.method, (request, caller) => answerTail(replica, request, caller)],
      [kinds.offer.method, (request, caller) => answerOffer(replica, request, caller)],
      [kinds.push.method, (request, caller) => answerPush(replica, request, caller)],
      [kinds.promises.method, (request, caller) => answerPromises(replica, request, caller)],
      [kinds.rowsSince.method, (request, caller) => answerRows(replica, request, caller)],
      [kinds.keysAfter.method, (request, caller) => answerKeys(replica, request, caller)],
      [kinds.copyOpen.method, (request, caller) => copies.open(request, caller)],
      [kinds.copyRead.method, (request) => copies.read(request)],
      [kinds.copyClose.method, (request) => copies.release(request)],
      [kinds.copyGoOn.method, (request) => copies.goOn(request)],
      [kinds.copyChecksum.method, (request) => copies.checksum(request)],
      [
        kinds.copyStart.method,
        (request, caller) => {
          if (this.hasProcess) return copies.start(request, caller);
          throw new CodedError('USAGE', 'no process sends copies here');
        },
      ],
    ]);
    const call: DeviceCaller['call'] = async ({ device, timeoutMs }, kind, request) => {
      const target = cluster.devices[device];
      if (target?.up !== true) throw new CodedError('PEER_UNREACHABLE', `d${device} is down`);
      const answer = await target.answer(kind.method, kind.request.parse(request), timeoutMs);
      return kind.answer.parse(answer) as never;
    };
    this.devices = { call, write: writeByCall(call) };
  }

  async answer(method: string, request: unknown, timeoutMs = peerCallTimeoutMs): Promise<unknown> {
    await this.onCall(method, timeoutMs);
    const nobody: Caller = { call: () => Promise.reject(new Error('rings come otherwise')) };
    return this.onAnswer(method, await this.#answers.get(method)?.(request as never, nobody));
  }

  /** Writes records directly into the store, as if they had arrived long ago. */
  async put(partition: number, records: Readonly<Record<string, string>>, tie = 0): Promise<void> {
    const { keyspace } = this.active.ring;
    const writes = Object.entries(records).map(([key, value], index) => ({
      keyspace,
      partition,
      key: Buffer.from(key),
      value: Buffer.from(value),
      ms: firstMs + index,
      tie,
    }));
    await this.store.write(writes);
  }

  info(partition: number) {
    return this.store.info(this.active.ring.keyspace, partition);
  }

  value(partition: number, key: string): string | null {
    const record = this.store.read(this.active.ring.keyspace, partition, Buffer.from(key));
    return record?.value?.toString() ?? null;
  }
}

export class StoreCluster implements AsyncDisposable {
  readonly versions: readonly Ring[];
  readonly devices: StoreDevice[] = [];
  readonly nowMs = nowMs;
  readonly #end: () => Promise<void>;

  private constructor(versions: readonly Ring[], end: () => Promise<void>) {
    this.versions = versions;
    this.#end = end;
  }

  static async open(versions: readonly Ring[]): Promise<StoreCluster> {
    const folder = await scratchFolder();
    const cluster = new StoreCluster(versions, async () => folder[Symbol.asyncDispose]());
    let lives = 0;
    for (const [id] of cluster.first.devices.entries()) {
      const store = await openStore({
        directory: join(folder.path, `d${id}`),
        newIncarnation: () => `life-${(lives += 1)}`,
        limits: { diskReserveBytes: 0 },
      });
      cluster.devices.push(new StoreDevice(cluster, store, id));
    }
    return cluster;
  }

  get first(): Ring {
    return this.ringOf(1);
  }

  ringOf(version: number): Ring {
    const ring = this.versions[version - 1];
    if (ring === undefined) throw new CodedError('RING_VERSION_UNKNOWN', `no version ${version}`);
    return ring;
  }

  /** Makes this version active on every device. */
  activate(version: number): void {
    for (const device of this.devices) device.active = activeOn(this.ringOf(version), device.id);
  }

  /** Creates files of a partition on these devices, by default ready ones. */
  async create(partition: number, ids: readonly number[], state: PartitionState = 'ready') {
    for (const id of ids) {
      const { store, active } = this.devices[id]!;
      await store.create(ringHead(active).keyspace, partition, state);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { store, copies, partial } of this.devices) {
      await partial.close();
      await copies.close();
      await store.close();
    }
    await this.#end();
  }
}
