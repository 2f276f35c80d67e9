// Decides which requests of one connection wait for each other: those with the same key, where the
// order can be observed.
import { byteText } from '@ringwright/base/as-buffer';
import { hasCode } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { coordinateWriteFor } from '../coordinate/coordinate.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { keyOf } from './redis-args.ts';
import { currentKeyspace, type RedisCall } from './redis-command.ts';

interface Pending {
  /**
   * `writes` (`reads`) settles when all writes (reads) of the key that have begun so far have
   * ended.
   */
  writes: Promise<void> | null;
  reads: Promise<void> | null;
  /** Number of the last write that has begun. */
  lastWrite: number;
  /** Writes in progress that beginWrite let in. The last of them calls `onDirectWritesEnd`. */
  directWrites: number;
  onDirectWritesEnd: (() => void) | null;
  /** Requests that have not ended. */
  running: number;
}

const newPending = (): Pending => ({
  ...{ writes: null, reads: null, onDirectWritesEnd: null },
  ...{ lastWrite: 0, running: 0, directWrites: 0 },
});

export type KeyEffect = 'read' | 'write' | 'swap';

/**
 * A read waits for the earlier writes of its key, and a write for the earlier reads. A write does
 * not wait for a write: stamps are given in order, so the later one wins wherever they meet.
 * Requests with different keys never wait for each other. Lives as long as its connection, and
 * holds keys only while they are in use.
 */
export class KeyOrder {
  readonly #pending = new Map<string, Pending>();
  #writes = 0;

  /**
   * Starts `work` when it has nothing to wait for. A result that is there at once is returned at
   * once. `overtaken` says whether a later write of the same keys has begun.
   */
  run<T>(
    keys: readonly Uint8Array[],
    effect: KeyEffect,
    work: (overtaken: () => boolean) => MaybePromise<T>,
  ): MaybePromise<T> {
    const names = keys.map(byteText);
    const waits: Promise<unknown>[] = [];
    for (const name of names) collectWaits(this.#pending.get(name), effect, waits);
    this.#writes += effect === 'read' ? 0 : 1;
    const number = this.#writes;
    const overtaken = (): boolean =>
      names.every((name) => (this.#pending.get(name)?.lastWrite ?? 0) > number);
    const result =
      waits.length === 0 ? work(overtaken) : Promise.all(waits).then(() => work(overtaken));
    // It ended in the turn in which it began, so no other request ever waits for it.
    if (!(result instanceof Promise)) return result;
    const leave = (): void => this.#leave(names);
    const ended = result.then(leave, leave);
    for (const name of names) {
      const entry = getOrMake(this.#pending, name, newPending);
      entry.running += 1;
      // A swap counts as a read too: a later write must be neither seen nor deleted by it.
      if (effect !== 'write') entry.reads = both(entry.reads, ended);
      if (effect !== 'read') {
        entry.writes = both(entry.writes, ended);
        entry.lastWrite = number;
      }
    }
    return result;
  }

  /**
   * Like `run` for a write of one key, but without a promise. Returns a turn to pass to endWrite,
   * or null if the write has to wait.
   */
  beginWrite(key: Uint8Array): WriteTurn | null {
    const name = byteText(key);
    const entry = getOrMake(this.#pending, name, newPending);
    if (entry.reads !== null) return null;
    this.#writes += 1;
    entry.running += 1;
    entry.directWrites += 1;
    entry.lastWrite = this.#writes;
    return { name, entry, number: this.#writes };
  }

  /** Ends a write. Returns whether a later write of the key has begun. */
  endWrite({ name, entry, number }: WriteTurn): boolean {
    entry.running -= 1;
    entry.directWrites -= 1;
    if (entry.directWrites === 0) entry.onDirectWritesEnd?.();
    if (entry.running === 0) this.#pending.delete(name);
    return entry.lastWrite > number;
  }

  #leave(names: readonly string[]): void {
    for (const name of names) {
      const entry = this.#pending.get(name);
      if (entry === undefined) continue;
      entry.running -= 1;
      if (entry.running === 0) this.#pending.delete(name);
    }
  }
}

/** A write that did not have to wait. */
interface WriteTurn {
  readonly name: string;
  readonly entry: Pending;
  readonly number: number;
}

function collectWaits(
  entry: Pending | undefined,
  effect: KeyEffect,
  waits: Promise<unknown>[],
): void {
  if (entry === undefined) return;
  if (effect !== 'write' && entry.directWrites > 0) awaitDirectWrites(entry);
  const { writes, reads } = entry;
  if (effect !== 'write' && writes !== null) waits.push(writes);
  if (effect !== 'read' && reads !== null) waits.push(reads);
}

/**
 * Turns the writes that beginWrite let in into a promise to wait for. From here on, further writes
 * of the key have to wait for the waiting request, so none join these.
 */
function awaitDirectWrites(entry: Pending): void {
  if (entry.onDirectWritesEnd !== null) return; // already part of `writes`
  const ended = new Promise<void>((resolve) => {
    entry.onDirectWritesEnd = resolve;
  });
  entry.writes = both(entry.writes, ended);
}

/**
 * Drops the results: otherwise a key that is always being read would keep the results of all reads
 * so far.
 */
function both(first: Promise<void> | null, second: Promise<void>): Promise<void> {
  return first === null ? second : Promise.all([first, second]).then(() => undefined);
}

/**
 * A write of one key among the other requests of its connection. `ended` is told the error, or
 * null; it may be in this turn. No promise, unless the write has to wait for a read: this is the
 * path of nearly every write of a pipeline. Throws KEY_INVALID and that no keyspace is chosen.
 */
export function writeInOrder(
  order: KeyOrder,
  { content, call }: { readonly content: NewContent; readonly call: RedisCall },
  ended: (error: unknown) => void,
): void {
  const { consistency, ports } = call;
  const { value, expiresMs } = content;
  const key = keyOf(call.args[0]);
  const request = { keyspace: currentKeyspace(call), key, consistency, value, expiresMs };
  const turn = order.beginWrite(key);
  if (turn !== null) {
    coordinateWriteFor(ports.coordinator, request, (_, error) => {
      const isOvertaken = order.endWrite(turn);
      ended(unlessOwn(error, isOvertaken));
    });
    return;
  }
  const put = (overtaken: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      coordinateWriteFor(ports.coordinator, request, (_, error) => {
        ended(unlessOwn(error, overtaken()));
        resolve();
      });
    });
  void order.run([key], 'write', put);
}

/**
 * Ignores SUPERSEDED if the connection itself wrote the key again: then this write took effect
 * before that one.
 */
function unlessOwn(error: unknown, isOvertaken: boolean): unknown {
  return hasCode(error, 'SUPERSEDED') && isOvertaken ? null : error;
}
