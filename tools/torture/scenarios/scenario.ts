// A scenario: a coincidence that is too rare at random, played with keys of its own.
import { formatSessionToken } from '@ringwright/base/session-token';
import type { Stamp } from '@ringwright/base/stamp';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { askRecord } from '../../../test/support/ask-record.ts';
import { isAcked } from '../../../test/support/history.ts';
import type { Operation } from '../../../test/support/history-operation.ts';
import { lasts, type Nemesis } from '../nemesis.ts';
import { noted } from '../noted.ts';
import { keyspace, type Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';

/** More keys than one offer of a tortured server holds. */
const KEYS = 24;
/** A place where bits of copies may be flipped. */
const FILLER = '.'.repeat(60);
/** Time until control takes effect: a tortured server reads its control file every 50 ms. */
const CONTROL_MS = 200;

type Asked = Pick<Operation, 'key' | 'level'> & {
  /** Value to write; absent: a read. */
  readonly value?: string;
  /** What the session has seen. */
  readonly seen?: { readonly session: string; readonly stamp: Stamp | null };
};

export class Scenario {
  readonly stage: Stage;
  readonly signal: AbortSignal;
  /** Keys of this play alone, in one partition. */
  readonly keys: readonly string[];
  #values = 0;

  constructor(stage: Stage, keys: readonly string[], signal: AbortSignal) {
    this.stage = stage;
    this.keys = keys;
    this.signal = signal;
  }

  /** The first three servers. */
  get cast(): readonly [a: Victim, b: Victim, c: Victim] {
    const [a, b, c] = this.stage.victims;
    if (a === undefined || b === undefined || c === undefined) throw new Error('three servers');
    return [a, b, c];
  }

  /** Sends one request to one server, and records it in the history of the run. */
  ask(victim: Victim, { key, level, value, seen }: Asked): Promise<Operation> {
    const { port } = victim.place;
    const kind = value === undefined ? 'read' : 'write';
    const question = { kind, key, value: value ?? null, ...(level && { level }) } as const;
    const stamp = seen?.stamp ?? null;
    const token = stamp === null ? null : formatSessionToken({ ...stamp, weak: false });
    const headers = token === null ? {} : { 'x-ringwright-session': token };
    const request = { ...question, port, keyspace, headers };
    const session = seen === undefined ? {} : { session: seen.session };
    return noted(this.stage.history, { ...question, ...session }, async () => ({
      ...(await askRecord(request)),
      port,
    }));
  }

  /** Sends the same request for every key to one server, all at once. */
  askAll(
    victim: Victim,
    request: Omit<Asked, 'key' | 'value'> & { readonly text?: string },
  ): Promise<Operation[]> {
    const { text, ...rest } = request;
    return Promise.all(
      this.keys.map((key) =>
        this.ask(victim, {
          ...rest,
          key,
          ...(text !== undefined && { value: this.value(key, text) }),
        }),
      ),
    );
  }

  /** Returns a unique value. */
  value(key: string, text: string): string {
    return `${text} of ${key} (${(this.#values += 1)}) ${FILLER}`;
  }

  /**
   * Repeats the requests until the answers for all keys satisfy `isSo`. Returns the keys that do
   * not when the time is up.
   */
  async askUntil(
    victim: Victim,
    request: Omit<Asked, 'key' | 'value'>,
    { isSo, withinMs }: { isSo: (operation: Operation) => boolean; withinMs: number },
  ): Promise<readonly string[]> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const operations = await this.askAll(victim, request);
      const open = operations.filter((operation) => !isSo(operation)).map(({ key }) => key);
      if (open.length === 0 || this.signal.aborted || performance.now() > deadline) return open;
      await lasts(CONTROL_MS, this.signal);
    }
  }

  /** Holds requests of the caller to the callee from here on; both are servers of the cast. */
  hold(...pairs: readonly (readonly [caller: Victim, callee: Victim])[]): void {
    for (const [caller, callee] of pairs) {
      this.stage.network.holdCalls(caller.place.number, callee.place.number);
    }
  }

  release(...pairs: readonly (readonly [caller: Victim, callee: Victim])[]): void {
    for (const [caller, callee] of pairs) {
      this.stage.network.releaseCalls(caller.place.number, callee.place.number);
    }
  }

  /** Drops held requests of the caller to the callee. */
  lose(...pairs: readonly (readonly [caller: Victim, callee: Victim])[]): void {
    for (const [caller, callee] of pairs) {
      this.stage.network.cutCalls(caller.place.number, callee.place.number);
    }
  }

  /** Applies the control to the servers, and waits until it takes effect. */
  async suffer(control: Parameters<Victim['set']>[0], ...victims: readonly Victim[]) {
    for (const victim of victims) victim.set(control);
    await lasts(CONTROL_MS, this.signal);
  }
}

/** Whether the operation's value is a write of this text to its key. */
export const isText =
  (text: string) =>
  ({ key, value }: Operation): boolean =>
    value?.startsWith(`${text} of ${key} `) === true;

/** Returns a nemesis that repeats the play, each time with intact servers and connections. */
export function scenarioOf(name: string, play: (scenario: Scenario) => Promise<void>): Nemesis {
  return {
    name,
    isAlone: true,
    async strike(stage, _random, signal) {
      const scenario = new Scenario(
        stage,
        keysOf(await stage.head(), { play: stage.history.length, partition: 0 }),
        signal,
      );
      const [a] = scenario.cast;
      const before = { level: 'all', text: 'before' } as const;
      while (!signal.aborted && !(await scenario.askAll(a, before)).every(isAcked)) {
        await lasts(CONTROL_MS, signal);
      }
      if (signal.aborted) return;
      await stage.fault(`scenario: ${name}`, [], () => play(scenario));
      stage.network.heal();
    },
  };
}

/** Returns keys of one partition; `play` makes them differ from earlier ones. */
export function keysOf(
  { partitioner }: Ring,
  { play, partition }: { readonly play: number; readonly partition: number },
): string[] {
  const partitionOf = partitionerOf(partitioner);
  const keys: string[] = [];
  for (let number = 0; keys.length < KEYS; number += 1) {
    const key = `scenario/${play}/${number}`;
    if (partitionOf(Buffer.from(key)) === partition) keys.push(key);
  }
  return keys;
}
