// The stage of a run: real servers with a proxy in front of each, one ring, and the present faults.
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { freePorts } from '@ringwright/node/free-ports';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { waitFor } from '@ringwright/node/wait-for';
import { checkStore } from '@ringwright/partition/audit/check-store';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import type { Operation } from '../../test/support/history-operation.ts';
import { unequalReplicas } from '../../test/support/replica-digests.ts';
import {
  type NodeShape,
  type RingBuilder,
  ringBuilderProgramIn,
} from '../../test/support/ring-builder-program.ts';
import { calm, environment } from './control.ts';
import { Network } from './network.ts';
import { Secured } from './secured.ts';
import type { SourcePatch } from './source-patches.ts';
import { copyHost, Victim } from './victim.ts';

export const keyspace = 'torture';

/** Only one device at a time may lose data: more would exceed what is promised. */
export const losses = 'losses';

const FIRST_PUSHES_MAX = 3;

interface StageShape {
  readonly folder: string;
  readonly servers: number;
  readonly partitions: number;
  /** Patches of servers. */
  readonly patches: readonly SourcePatch[];
  /** Patches of ring-builder. */
  readonly bug: readonly SourcePatch[];
  /** Whether it has TLS, tokens and signed rings. */
  readonly isSecured: boolean;
}

/** From the start of a fault to its end, by the clock of the history. */
export interface FaultWindow {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A ring besides the tortured one. */
export interface OtherRing {
  readonly keyspace: string;
  readonly members: readonly Victim[];
  /** By key that must exist: the values that it may have. */
  readonly values: Map<string, readonly string[]>;
}

export class Stage implements AsyncDisposable {
  readonly shape: StageShape;
  /** Null for a stage without TLS, tokens and signatures. */
  readonly secured: Secured | null;
  readonly builder: RingBuilder;
  readonly victims: Victim[] = [];
  readonly network = new Network();
  readonly faults: FaultWindow[] = [];
  /** All operations of clients, in the order in which they began. */
  readonly history: Operation[] = [];
  /** Records of archives, each as a quorum read that no client waited for. */
  readonly archived: Operation[] = [];
  /** Rings besides the tortured one. */
  readonly others: OtherRing[] = [];
  /** Locks: one for each server by name, and `losses`. Only one fault at a time may hold each. */
  readonly turns = new KeyedMutex();

  private constructor(shape: StageShape, { builder, secured }: Pick<Stage, 'builder' | 'secured'>) {
    this.shape = shape;
    this.builder = builder;
    this.secured = secured;
  }

  /** Starts servers that serve version 1 of a ring. */
  static async open(shape: StageShape): Promise<Stage> {
    const { folder, bug, isSecured } = shape;
    const secured = isSecured ? await Secured.open(folder, keyspace) : null;
    const builder = await ringBuilderProgramIn(folder, operatorNode(bug, secured));
    const stage = new Stage(shape, { builder, secured });
    try {
      for (let count = 0; count < shape.servers; count += 1) await stage.#newVictim();
      await Promise.all(stage.victims.map((victim) => victim.start()));
      await stage.#createRing(shape.partitions);
      await stage.#firstPush();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * A server on a busy machine may answer too late. Then repeats the push, as an operator would.
   */
  async #firstPush(): Promise<void> {
    for (let tries = 1; tries < FIRST_PUSHES_MAX; tries += 1) {
      if ((await this.builder.run(['push', keyspace])).exit === 0) return;
    }
    await this.builder.json(['push', keyspace]);
  }

  async #createRing(partitions: number): Promise<void> {
    const counts = ['--partitions', String(partitions), '--replicas', '3'];
    // Intervals, so that partitions can be split and merged.
    const shape = ['--partitioner', 'hash-intervals', ...counts];
    await this.builder.json(['create', keyspace, ...shape, '--min-part-hours', '0', '--unsigned']);
    const devices = this.victims.flatMap(({ text }) => [text, '1']);
    await this.builder.json(['add', keyspace, ...devices, ...this.addOptions]);
    await this.builder.json(['commit', keyspace, '-m', 'the first version']);
  }

  /** Returns how to start the operator's commands, with these patches besides the seeded bug. */
  operatorNode(patches: readonly SourcePatch[] = []): NodeShape {
    return operatorNode([...this.shape.bug, ...patches], this.secured);
  }

  /** On a secured stage, rings name the keys of their devices. */
  get addOptions(): readonly string[] {
    return this.secured === null ? [] : ['--ask-key'];
  }

  /** Starts one more server; no ring names it yet. */
  async addVictim(): Promise<Victim> {
    const victim = await this.#newVictim();
    await victim.start();
    return victim;
  }

  async #newVictim(): Promise<Victim> {
    const number = this.victims.length;
    const { folder, patches } = this.shape;
    const [port = 0, proxyPort = 0, redisPort = 0, copyPort = 0] = await freePorts(4);
    const ports = { port, proxyPort, redisPort, copyPort };
    const { secured } = this;
    const victim = new Victim({ number, folder, keyspace, ...ports, patches, secured });
    this.victims.push(victim);
    await this.network.listen(number, { proxy: proxyPort, host: '127.0.0.1', target: port });
    await this.network.listen(number, { proxy: copyPort, host: copyHost, target: copyPort });
    return victim;
  }

  async head(name = keyspace): Promise<Ring> {
    return (await readVersion(this.rings, name, 'head')).ring;
  }

  /** The repository. */
  get rings(): string {
    return path.join(this.shape.folder, 'rings');
  }

  victimOf(ring: Ring, device: number): Victim {
    const victim = this.victims.find((one) => one.idIn(ring) === device);
    return must(victim, `d${device} is a server of the stage`);
  }

  /**
   * Runs a fault when no other fault holds any of these servers, and records its time. Network
   * faults hold no servers, so they may coincide with any other. A fault that returns 'spared' is
   * not recorded.
   */
  async fault(
    name: string,
    victims: readonly Victim[],
    inject: () => Promise<'spared' | void>,
  ): Promise<void> {
    // Locks in a fixed order, so that two faults never deadlock.
    const ordered = [...victims].sort((a, b) => a.place.number - b.place.number);
    await this.#inTurn(ordered, async () => {
      const fromMs = performance.now();
      let isSpared = false;
      try {
        isSpared = (await inject()) === 'spared';
      } finally {
        if (!isSpared) this.faults.push({ name, fromMs, toMs: performance.now() });
      }
    });
  }

  #inTurn([first, ...rest]: readonly Victim[], work: () => Promise<void>): Promise<void> {
    if (first === undefined) return work();
    return this.turns.run(first.name, () => this.#inTurn(rest, work));
  }

  /** Ends all faults; resolves when every server listens. */
  async calm(): Promise<void> {
    this.network.heal();
    for (const victim of this.victims) {
      victim.server.resume();
      victim.set(calm);
      await victim.start();
    }
  }

  /** Resolves when no client writes and all replicas are equal. Throws when that takes longer. */
  async converge(withinMs: number, name = keyspace): Promise<void> {
    const ring = await this.head(name);
    const member = this.victims.find((victim) => victim.idIn(ring) !== -1);
    const trusted = member && (await this.secured?.asServer(member.server.place.data));
    await waitFor(`all replicas of ${name} to be equal after the faults`, {
      ask: () => unequalReplicas(ring, trusted),
      until: (unequal) => unequal.length === 0,
      deadlineMs: withinMs,
    });
  }

  /** Stops the servers, and returns everything wrong in their files. */
  async stopAndCheckFiles(): Promise<string[]> {
    const faults: string[] = [];
    for (const victim of this.victims) {
      const code = await victim.end('stop');
      if (code !== 0) faults.push(`${victim.name} ended with ${code} on SIGTERM`);
    }
    for (const { name, server } of this.victims) {
      const findings = await checkStore(server.place.data);
      faults.push(...findings.map(({ code, message }) => `${name}: ${code} ${message}`));
    }
    return faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const victim of this.victims) {
      victim.server.resume();
      await victim.end('kill');
    }
    await this.network[Symbol.asyncDispose]();
  }
}

function operatorNode(patches: readonly SourcePatch[], secured: Secured | null): NodeShape {
  const proofs = secured?.environment ?? {};
  if (patches.length === 0) return { options: [], environment: proofs };
  const preload = new URL('./preload.ts', import.meta.url).href;
  return {
    options: ['--no-warnings', '--import', preload],
    environment: { [environment.patches]: JSON.stringify(patches), ...proofs },
  };
}
