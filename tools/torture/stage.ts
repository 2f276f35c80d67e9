// Where it all happens: real servers with a proxy before each, one ring, and who suffers now.
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { freePorts } from '@ringwright/node/free-ports';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { waitFor } from '@ringwright/node/wait-for';
import { checkStore } from '@ringwright/partition/audit/check-store';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import type { Operation } from '../../test/support/history.ts';
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

/** One device at a time may lose data: more would be more than is promised. */
export const losses = 'losses';

const FIRST_PUSHES_MAX = 3;

interface StageShape {
  readonly folder: string;
  readonly servers: number;
  readonly partitions: number;
  /** Of servers. */
  readonly patches: readonly SourcePatch[];
  /** Of ring-builder. */
  readonly bug: readonly SourcePatch[];
  /** Over TLS, with tokens and signed rings. */
  readonly isSecured: boolean;
}

/** From the start of a fault to its end, by the clock of the history. */
export interface FaultWindow {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A ring besides the one under torture. */
export interface OtherRing {
  readonly keyspace: string;
  readonly members: readonly Victim[];
  /** Of each key that must be there, the values it may have. */
  readonly values: Map<string, readonly string[]>;
}

export class Stage implements AsyncDisposable {
  readonly shape: StageShape;
  /** Null: nothing is proved, and nothing shown. */
  readonly secured: Secured | null;
  readonly builder: RingBuilder;
  readonly victims: Victim[] = [];
  readonly network = new Network();
  readonly faults: FaultWindow[] = [];
  /** All that clients asked, in the order in which they began. */
  readonly history: Operation[] = [];
  /** What archives hold, each record a read at quorum for which nobody waited. */
  readonly archived: Operation[] = [];
  /** Rings besides the one under torture. */
  readonly others: OtherRing[] = [];
  /** Each server by its name, and `losses`: only one fault at a time may have any of these. */
  readonly turns = new KeyedMutex();

  private constructor(shape: StageShape, { builder, secured }: Pick<Stage, 'builder' | 'secured'>) {
    this.shape = shape;
    this.builder = builder;
    this.secured = secured;
  }

  /** Servers that run and serve version 1 of a ring. */
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

  /** A busy machine may leave a server without an answer in time: as an operator, typed again. */
  async #firstPush(): Promise<void> {
    for (let tries = 1; tries < FIRST_PUSHES_MAX; tries += 1) {
      if ((await this.builder.run(['push', keyspace])).exit === 0) return;
    }
    await this.builder.json(['push', keyspace]);
  }

  async #createRing(partitions: number): Promise<void> {
    const counts = ['--partitions', String(partitions), '--replicas', '3'];
    // Intervals, so that they can be split and merged.
    const shape = ['--partitioner', 'hash-intervals', ...counts];
    await this.builder.json(['create', keyspace, ...shape, '--min-part-hours', '0', '--unsigned']);
    const devices = this.victims.flatMap(({ text }) => [text, '1']);
    await this.builder.json(['add', keyspace, ...devices, ...this.addOptions]);
    await this.builder.json(['commit', keyspace, '-m', 'the first version']);
  }

  /** How commands of the operator are started, with these patches besides the seeded bug. */
  operatorNode(patches: readonly SourcePatch[] = []): NodeShape {
    return operatorNode([...this.shape.bug, ...patches], this.secured);
  }

  /** On a stage that is secured rings name the keys of their devices. */
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
   * Runs a fault on these servers when no other fault has any of them, and notes its time. Faults
   * of the network take no servers: they may meet any other. One that says 'spared' is not noted.
   */
  async fault(
    name: string,
    victims: readonly Victim[],
    suffer: () => Promise<'spared' | void>,
  ): Promise<void> {
    // In one order always, so that two faults never wait for each other.
    const ordered = [...victims].sort((a, b) => a.place.number - b.place.number);
    await this.#inTurn(ordered, async () => {
      const fromMs = performance.now();
      let isSpared = false;
      try {
        isSpared = (await suffer()) === 'spared';
      } finally {
        if (!isSpared) this.faults.push({ name, fromMs, toMs: performance.now() });
      }
    });
  }

  #inTurn([first, ...rest]: readonly Victim[], work: () => Promise<void>): Promise<void> {
    if (first === undefined) return work();
    return this.turns.run(first.name, () => this.#inTurn(rest, work));
  }

  /** Ends all suffering; resolves when every server listens. */
  async calm(): Promise<void> {
    this.network.heal();
    for (const victim of this.victims) {
      victim.server.resume();
      victim.set(calm);
      await victim.start();
    }
  }

  /** Resolves when nobody writes and all replicas are equal. Throws when that takes longer. */
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

  /** Stops the servers and lists everything wrong in what they leave behind. */
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
