// The order of pipelined requests against a model: what each one sees, and which run at once.
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { seededRandom } from '@ringwright/base/random';
import { collectGarbage } from '@ringwright/node/v8/collect-garbage';
import { expect, test } from 'vitest';
import { type KeyEffect, KeyOrder } from './key-order.ts';

const keyOf = (name: string): Uint8Array => Buffer.from(name);

/** Runs requests that end when the test ends them. */
class Stage {
  readonly order = new KeyOrder();
  readonly started: string[] = [];
  readonly overtaken = new Map<string, () => boolean>();
  readonly #ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();

  ask(name: string, effect: KeyEffect, keys: readonly string[]): MaybePromise<void> {
    return this.order.run(keys.map(keyOf), effect, (overtaken) => {
      this.started.push(name);
      this.overtaken.set(name, overtaken);
      return new Promise<void>((resolve, reject) => this.#ends.set(name, { resolve, reject }));
    });
  }

  async end(name: string, error?: Error): Promise<void> {
    const { resolve, reject } = this.#ends.get(name)!;
    if (error === undefined) resolve();
    else reject(error);
    await new Promise((done) => setImmediate(done));
  }
}

test('reads of a key run together, and so do writes', () => {
  const stage = new Stage();
  void stage.ask('r1', 'read', ['a']);
  void stage.ask('r2', 'read', ['a']);
  void stage.ask('w1', 'write', ['b']);
  void stage.ask('w2', 'write', ['b']);
  expect(stage.started).toEqual(['r1', 'r2', 'w1', 'w2']);
  expect(stage.overtaken.get('w1')?.()).toBe(true);
  expect(stage.overtaken.get('w2')?.()).toBe(false);
});

test('a read waits for all earlier writes, and a write for all earlier reads', async () => {
  const stage = new Stage();
  void stage.ask('w1', 'write', ['a']);
  void stage.ask('w2', 'write', ['a']);
  void stage.ask('r', 'read', ['a']);
  void stage.ask('other', 'read', ['b']);
  void stage.ask('w3', 'write', ['a']);
  expect(stage.started).toEqual(['w1', 'w2', 'other']);
  await stage.end('w2');
  expect(stage.started).toHaveLength(3);
  await stage.end('w1');
  expect(stage.started).toEqual(['w1', 'w2', 'other', 'r']);
  await stage.end('r');
  expect(stage.started.at(-1)).toBe('w3');
});

test('a write that is begun without a promise and a read wait for each other', async () => {
  const stage = new Stage();
  const [first, second] = [stage.order.beginWrite(keyOf('a')), stage.order.beginWrite(keyOf('a'))];
  void stage.ask('r', 'read', ['a', 'b']);
  expect([stage.order.beginWrite(keyOf('a')), stage.order.beginWrite(keyOf('b'))]).toEqual([
    null,
    null,
  ]);
  expect(stage.order.endWrite(second!)).toBe(false);
  await new Promise((done) => setImmediate(done));
  expect(stage.started).toEqual([]);
  expect(stage.order.endWrite(first!)).toBe(true);
  await new Promise((done) => setImmediate(done));
  await stage.end('r');
  expect(stage.order.beginWrite(keyOf('a'))).not.toBeNull();
});

test('a failed request lets the next one run', async () => {
  const stage = new Stage();
  const failed = Promise.resolve(stage.ask('w', 'write', ['a']));
  failed.catch(() => undefined);
  void stage.ask('r', 'read', ['a']);
  await stage.end('w', new Error('lost'));
  expect(stage.started).toEqual(['w', 'r']);
  await expect(failed).rejects.toThrow('lost');
});

test('random pipelines give the answers of requests one after the other', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom(seed);
    const order = new KeyOrder();
    const [store, model] = [new Map<string, number>(), new Map<string, number>()];
    const stamps = new Map<string, number>();
    const answers: unknown[] = [];
    const wanted: unknown[] = [];
    for (let number = 1; number <= 30; number += 1) {
      const name = 'abc'[random.below(3)]!;
      const effect = (['read', 'write', 'swap'] as const)[random.below(3)]!;
      const turns = random.below(4);
      const pause = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await new Promise((done) => setImmediate(done));
      };
      const run = async (): Promise<unknown> => {
        const stamp = number; // issued at the start, as by a coordinator
        await pause();
        const seen = store.get(name);
        await pause();
        if (effect !== 'read' && stamp > (stamps.get(name) ?? 0)) {
          stamps.set(name, stamp);
          store.set(name, number);
        }
        return effect === 'write' ? undefined : seen;
      };
      // A read of a value that is there ends in the call in which it begins.
      const isThere = effect === 'read' && turns === 0;
      const begun =
        effect === 'write' && random.below(2) === 0 ? order.beginWrite(keyOf(name)) : null;
      answers.push(
        begun === null
          ? order.run([keyOf(name)], effect, isThere ? () => store.get(name) : run)
          : run().finally(() => order.endWrite(begun)),
      );
      wanted.push(effect === 'write' ? undefined : model.get(name));
      if (effect !== 'read') model.set(name, number);
    }
    expect(await Promise.all(answers), `seed ${seed}`).toEqual(wanted);
    expect(store, `seed ${seed}`).toEqual(model);
  }
});

test('a key that is read without a pause keeps no memory of ended reads', async () => {
  const [order, keys] = [new KeyOrder(), [keyOf('hot')]];
  const begin = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { done: order.run(keys, 'read', () => promise), end: resolve };
  };
  let last = begin();
  const heapAfter = async (reads: number): Promise<number> => {
    for (let count = 0; count < reads; count += 1) {
      const next = begin();
      last.end();
      await last.done;
      last = next;
    }
    await new Promise((done) => setImmediate(done));
    collectGarbage('major');
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(1_000);
  expect(((await heapAfter(50_000)) - before) / 50_000).toBeLessThan(16);
  last.end();
});
