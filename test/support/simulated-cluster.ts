// Five devices in memory with the real coordinator and replica code. Delays, losses and crashes
// come from a seed. Needs fake timers, because every wait is a setTimeout.
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { type Random, seededRandom } from '@ringwright/base/random';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { RecordContent, Write, WriteOutcome } from '@ringwright/partition/file/record';
import type { Store } from '@ringwright/partition/store';
import type { WriteCaller } from '@ringwright/partition/store/queue-writes';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { LongWrites } from '@ringwright/server/coordinate/long-writes';
import { finishProposal } from '@ringwright/server/coordinate/propose';
import type { CoordinatorPorts } from '@ringwright/server/coordinate/with-newest-ring';
import { confirmTakeover } from '@ringwright/server/moves/confirm-takeover';
import { takeOverBallots } from '@ringwright/server/moves/take-over-ballots';
import type { DeviceCaller } from '@ringwright/server/peers/device-caller';
import { InFlight } from '@ringwright/server/replica/in-flight';
import { LongReads } from '@ringwright/server/replica/long-reads';
import type { ReplicaPorts } from '@ringwright/server/replica/replica';
import { RoundQueue } from '@ringwright/server/replica/round-queue';
import { type ActiveRing, activeRing, ringHead } from '@ringwright/server/rings/active-ring';
import type { RingExchange } from '@ringwright/server/rings/ring-exchange';
import { RingRequests } from '@ringwright/server/rings/ring-requests';
import type { Rings } from '@ringwright/server/rings/rings';
import { answerMessage, nobody } from './answer-message.ts';
import { activeOn, identityOf } from './served-ring.ts';
import { writeByCall } from './write-by-call.ts';

type Row = Pick<
  Write,
  'key' | 'value' | 'ms' | 'tie' | 'expiresMs' | 'origin' | 'isPreparedBallot'
>;

export interface SimulationOptions {
  /** Percentage of messages that are lost. */
  readonly lossPercent: number;
  /** False: a joiner counts as soon as it has the ring that names it. Loses writes. */
  readonly takeover: boolean;
  /** A device whose clock is further ahead than any write may be. */
  readonly wrongClock?: number;
}

/** Shorter than the real timeout, so that a run has more operations. */
const callTimeoutMs = 300;
/** More than any write may be ahead. */
const wrongClockMs = 120_000;
const partition = 0;

export class SimulatedDevice {
  readonly id: number;
  readonly cluster: SimulatedCluster;
  active: ActiveRing;
  up = true;
  state: 'absent' | 'filling' | 'ready' = 'absent';
  loaded = false;
  readonly rows = new Map<string, RecordContent>();
  readonly promises = new Map<string, Stamp>();
  readonly #mutex = new KeyedMutex();
  readonly #rounds = new RoundQueue();
  readonly #longReads = new LongReads();
  readonly clock: HybridClock;
  readonly inFlight = new InFlight();
  readonly #before = { devices: new Set<number>(), slots: 99 };
  #working = false;

  constructor(cluster: SimulatedCluster, id: number, ring: Ring) {
    this.cluster = cluster;
    this.id = id;
    this.active = activeOn(ring, id);
    if (this.duty === 'SERVE') this.state = 'ready';
    const isWrong = cluster.options.wrongClock === id;
    const skewMs = isWrong ? wrongClockMs : cluster.random.below(2_000);
    this.clock = new HybridClock(() => Date.now() + skewMs);
  }

  get duty(): string {
    return dutyOf(this.active.ring, partition, this.id).kind;
  }

  /** The replica of this device, with the real fences. */
  get replica(): ReplicaPorts {
    const reach = async (_keyspace: string, version: number): Promise<ActiveRing> => {
      if (this.active.ring.version < version) {
        await this.cluster.pause(10);
        this.activate(version);
      }
      return this.active;
    };
    return {
      store: this.#store as unknown as Store,
      exchange: { reach, reached: () => null } as unknown as RingExchange,
      clock: this.clock,
      inFlight: this.inFlight,
      longReads: this.#longReads,
      rounds: this.#rounds,
      opened: () => Promise.resolve(),
    };
  }

  readonly #info = () =>
    this.state === 'absent' ? null : { state: this.state, barrierMs: 0, floorMs: 0 };

  readonly #store = {
    info: this.#info,
    marks: this.#info,
    read: (_keyspace: string, _partition: number, key: Uint8Array) =>
      this.rows.get(Buffer.from(key).toString()) ?? null,
    preparedBallots: () =>
      [...this.promises].map(([name, stamp]) => ({ key: Buffer.from(name), ...stamp })),
    write: async (rows: readonly Row[]) => {
      await this.cluster.pause(3);
      return rows.map((row) => (this.state === 'absent' ? { kind: 'absent' } : this.put(row)));
    },
    writeFor: (row: Row, caller: WriteCaller) => {
      this.#store.write([row]).then(
        ([outcome]) => caller.stored(outcome as WriteOutcome),
        (error: unknown) => caller.failed(error),
      );
    },
  };

  /** Stores a row as a partition file does. */
  put(row: Row): { readonly kind: string; ms: number; tie: number } {
    const { key, value, ms, tie, expiresMs = 0, origin = null, isPreparedBallot = false } = row;
    const name = Buffer.from(key).toString();
    const held = this.rows.get(name);
    const order = held === undefined ? 1 : compareStamps({ ms, tie }, held);
    if (order < 0 && held !== undefined) return { kind: 'stale', ms: held.ms, tie: held.tie };
    if (order === 0) return { kind: 'same', ms, tie };
    const promise = this.promises.get(name);
    if (promise !== undefined && compareStamps(promise, { ms, tie }) > 0) {
      return { kind: 'promised', ...promise };
    }
    if (isPreparedBallot) this.promises.set(name, { ms, tie });
    else {
      this.promises.delete(name);
      this.rows.set(name, { key, value, ms, tie, expiresMs, origin });
    }
    return { kind: 'applied', ms, tie };
  }

  /** Activates this version, unless it is older than the active one. */
  activate(version: number): void {
    const ring = this.cluster.versions[version - 1];
    if (ring === undefined || ring.version <= this.active.ring.version) return;
    this.active = activeRing(activeOn(ring, this.id), identityOf(ring, this.id), Date.now());
    void this.work();
  }

  /** Carries out the duties of a joiner as the reconciler does. */
  async work(): Promise<void> {
    const { ring } = this.active;
    if (this.duty === 'LOAD') {
      for (const { device } of slotsOf(ring, partition)) this.#before.devices.add(device);
      this.#before.slots = slotsOf(ring, partition).length;
      if (this.state === 'absent') this.state = 'filling';
    }
    if (this.#working || !this.up) return;
    this.#working = true;
    const move = ring.moves.find(({ to }) => to === this.id);
    try {
      if (move?.state === 'INITIALIZING' && !this.loaded && move.from !== null) {
        await this.cluster.load(this, move.from);
        this.loaded = true;
      }
      if (this.duty === 'SERVE' && this.state === 'filling' && this.loaded) await this.#serve();
    } catch {
      await this.cluster.pause(200);
    }
    this.#working = false;
    const open = this.duty === 'LOAD' ? !this.loaded && this.active.ring.version > 2 : false;
    if (open || (this.duty === 'SERVE' && this.state !== 'ready')) void this.work();
  }

  async #serve(): Promise<void> {
    const { active } = this;
    if (this.cluster.options.takeover) {
      const former = new Map([[partition, this.#before]]);
      const safe = await confirmTakeover(this.caller, active, former);
      if (safe.length === 0) throw new Error('not yet');
    }
    this.state = 'ready';
  }

  get caller(): DeviceCaller {
    const call = (
      to: { readonly device: number },
      kind: { readonly method: string },
      request: unknown,
    ): Promise<unknown> => this.cluster.call(this, to.device, { method: kind.method, request });
    const typed = call as DeviceCaller['call'];
    return { call: typed, write: writeByCall(typed) };
  }

  get coordinator(): CoordinatorPorts {
    const rings = { get: () => this.active } as unknown as Rings;
    const catchUp = async (_active: ActiveRing, device: number): Promise<void> => {
      await this.cluster.pause(20);
      this.activate(this.cluster.devices[device]?.active.ring.version ?? 0);
    };
    const issueStamp = async ({ tieDevice }: ActiveRing) => this.clock.next(tieDevice);
    const rest = { devices: this.caller, clock: this.clock, issueStamp, catchUp };
    const backOff = (tries: number): Promise<void> => this.cluster.pause(Math.min(2 ** tries, 50));
    const longWrites = new LongWrites(Number.POSITIVE_INFINITY);
    const requests = new RingRequests();
    return { ...rest, rings, requests, longWrites, mutex: this.#mutex, backOff };
  }
}

export class SimulatedCluster {
  readonly random: Random;
  readonly versions: readonly Ring[];
  readonly devices: readonly SimulatedDevice[];
  readonly options: SimulationOptions;
  /** Devices that reach only each other, and that only they reach. */
  cutOff: ReadonlySet<number> = new Set();

  constructor(seed: number, versions: readonly Ring[], options: SimulationOptions) {
    this.random = seededRandom(seed);
    this.versions = versions;
    this.options = options;
    const [first] = versions;
    if (first === undefined) throw new Error('no ring');
    this.devices = first.devices.map((_, id) => new SimulatedDevice(this, id, first));
  }

  /** Waits up to `ms`, sometimes many times as long. */
  pause(ms: number): Promise<void> {
    const slow = this.random.below(12) === 0 ? 15 : 1;
    return new Promise((resolve) => setTimeout(resolve, this.random.below(ms * slow + 1)));
  }

  async call(
    from: SimulatedDevice,
    to: number,
    { method, request }: { readonly method: string; readonly request: unknown },
  ): Promise<unknown> {
    const target = this.devices[to];
    if (target === undefined) throw new Error(`no device ${to}`);
    if (target !== from) await this.#travel(from, target);
    const answer = await answerMessage(target.replica, method, request);
    if (target !== from) await this.#travel(target, from);
    return answer;
  }

  async #travel(from: SimulatedDevice, to: SimulatedDevice): Promise<void> {
    await this.pause(8);
    if (!to.up) throw new CodedError('PEER_UNREACHABLE', 'down');
    const isCut = this.cutOff.has(from.id) !== this.cutOff.has(to.id);
    if (!isCut && this.random.below(100) >= this.options.lossPercent) return;
    await new Promise((resolve) => setTimeout(resolve, callTimeoutMs));
    throw new CodedError('PEER_TIMEOUT', 'lost');
  }

  /** Copies all rows of the replaced device, or if it is down, of all the others. */
  async load(joiner: SimulatedDevice, from: number): Promise<void> {
    const { active } = joiner;
    const others = slotsOf(active.ring, partition).flatMap(({ device }) =>
      device === from ? [] : [device],
    );
    const replaced = this.devices[from]?.up === true;
    for (const id of replaced ? [from] : others) {
      const source = this.devices[id];
      if (source === undefined || !source.up) throw new Error('away');
      await source.replica.exchange.reach('cities', active.ring.version, nobody);
      await source.inFlight.drained('cities', partition);
      const rows = [...source.rows.values()];
      await this.pause(60);
      const decide = (_: string, key: Uint8Array) =>
        finishProposal(joiner.coordinator, 'cities', key);
      for (const row of rows) {
        if (joiner.put(row).kind === 'promised') await decide('cities', row.key);
      }
      const ports = { store: joiner.replica.store, devices: joiner.caller, decide };
      await takeOverBallots(ports, { active, partition, device: id });
    }
  }

  /** Whether all devices that are up have this version or a later one. */
  confirmed(version: number): boolean {
    return this.devices.every(({ up, active }) => !up || ringHead(active).version >= version);
  }
}
