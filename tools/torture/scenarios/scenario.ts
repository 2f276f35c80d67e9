// A scenario: a coincidence that chance brings about too rarely, played with keys of its own.
import { formatSessionToken } from '@ringwright/base/session-token';
import type { Stamp } from '@ringwright/base/stamp';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { askRecord } from '../../../test/support/ask-record.ts';
import { isAcked, type Operation } from '../../../test/support/history.ts';
import { lasts, type Nemesis } from '../nemesis.ts';
import { noted } from '../noted.ts';
import { keyspace, type Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';

/** More than one offer of a tortured server takes. */
const KEYS = 24;
/** Where bits of copies may be flipped. */
const FILLER = '.'.repeat(60);
/** A tortured server reads what it is to suffer every 50 ms. */
const CONTROL_MS = 200;

type Asked = Pick<Operation, 'key' | 'level'> & {
  /** Written; absent: a read. */
  readonly value?: string;
  /** What the session has seen. */
  readonly seen?: { readonly session: string; readonly stamp: Stamp | null };
};

export class Scenario {
  readonly stage: Stage;
  readonly signal: AbortSignal;
  /** Of this play alone, and of one partition. */
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

  /** One question to one server, noted in the history of the run. */
  ask(victim: Victim, { key, level, value, seen }: Asked): Promise<Operation> {
    const { port } = victim.place;
    const kind = value === undefined ? 'read' : 'write';
    const question = { kind, key, value: value ?? null, ...(level && { level }) } as const;
    const stamp = seen?.stamp ?? null;
    const token = stamp === null ? null : formatSessionToken({ ...stamp, weak: false });
    const headers = token === null ? {} : { 'x-ringwright-session': token };
    const about = { ...question, port, keyspace, headers };
    const session = seen === undefined ? {} : { session: seen.session };
    return noted(this.stage.history, { ...question, ...session }, async () => ({
      ...(await askRecord(about)),
      port,
    }));
  }

  /** The same to one server for every key, all at once. */
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

  /** No two are equal. */
  value(key: string, text: string): string {
    return `${text} of ${key} (${(this.#values += 1)}) ${FILLER}`;
  }

  /** Asks until every key is answered so; the keys that are not when the time is up. */
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

  /** What one asks another waits from here on; both are servers of the cast. */
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

  /** What one asked another, and waits, never arrives. */
  lose(...pairs: readonly (readonly [caller: Victim, callee: Victim])[]): void {
    for (const [caller, callee] of pairs) {
      this.stage.network.cutCalls(caller.place.number, callee.place.number);
    }
  }

  /** Servers suffer from here on. */
  async suffer(control: Parameters<Victim['set']>[0], ...victims: readonly Victim[]) {
    for (const victim of victims) victim.set(control);
    await lasts(CONTROL_MS, this.signal);
  }
}

/** The value of a write of this text to the key. */
export const isText =
  (text: string) =>
  ({ key, value }: Operation): boolean =>
    value?.startsWith(`${text} of ${key} `) === true;

/** Played again and again; each play begins with whole servers and whole connections. */
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

/** Of one partition; `play` makes them others than before. */
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
