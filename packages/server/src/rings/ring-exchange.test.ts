// Rings between servers: uploads in order, deltas, and catching up from several peers at once.
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import type { RingHead } from '@ringwright/wire/hello';
import { type SentRing, sendRing } from '@ringwright/wire/send-ring';
import { describe, expect, test } from 'vitest';
import { activeOn, idOf, servedRing } from '../../../../test/support/served-ring.ts';
import type { ActiveRing } from './active-ring.ts';
import { type ConnectBack, RingExchange } from './ring-exchange.ts';
import type { Rings } from './rings.ts';

const versions: Ring[] = [servedRing({ power: 10 })];
while (versions.length < 4) {
  const last = versions.at(-1)!;
  versions.push(proposeMoves(last, idOf(last), { moves: [] }));
}
const ringOf = (version: number): Ring => versions[version - 1]!;

/** Rings in memory, which adopt newer versions as the real class does. */
function exchangeAt(version: number | null) {
  let active: ActiveRing | undefined = version === null ? undefined : activeOn(ringOf(version), 0);
  const adopted: number[] = [];
  const rings = {
    find: () => active,
    get: () => {
      if (active !== undefined) return active;
      throw new CodedError('RING_UNKNOWN', 'none');
    },
    wantsSignatures: () => false,
    isNewFork: () => false,
    checkFirstBytes: () => Promise.resolve(),
    precheck: ({ id }: { id: string }) => (active?.id === id ? 'same' : 'wanted'),
    adopt: (bytes: Uint8Array) => {
      const ring = versions.find((one) => encodeRing(one).bytes.equals(bytes));
      if (ring === undefined) throw new CodedError('RING_FILE_INVALID', 'damaged');
      if (ring.version < (active?.ring.version ?? 0)) throw new CodedError('RING_OLDER', 'older');
      adopted.push(ring.version);
      active = activeOn(ring, 0);
      return Promise.resolve(active);
    },
  } as unknown as Rings;
  return { exchange: new RingExchange(rings), rings, adopted };
}

/** A peer with this version, which answers once the gate opens. */
function peerAt(version: number, gate: Promise<unknown> = Promise.resolve()) {
  const asked: number[] = [];
  const call = async (): Promise<unknown> => {
    asked.push(version);
    await gate;
    const { bytes, id } = encodeRing(ringOf(version));
    return { version, id, bytes: bytes.length, data: bytes };
  };
  return { asked, caller: { call: call as Caller['call'] } };
}

const gone: Caller = {
  call: () => Promise.reject(new CodedError('PEER_UNREACHABLE', 'gone')),
};

describe('reaching the version of a request', () => {
  test('needs no peer if the version is here already', async () => {
    const { exchange } = exchangeAt(3);
    expect((await exchange.reach('cities', 2, gone)).ring.version).toBe(3);
  });

  test('takes one fetch for requests at the same time', async () => {
    const { exchange, adopted } = exchangeAt(1);
    const peer = peerAt(3);
    const reached = await Promise.all(
      [3, 2, 3].map((v) => exchange.reach('cities', v, peer.caller)),
    );
    expect(reached.map(({ ring }) => ring.version)).toEqual([3, 3, 3]);
    expect([adopted, peer.asked]).toEqual([[3], [3]]);
  });

  test('succeeds for others while a fetch from a peer that is behind is in flight', async () => {
    const { exchange } = exchangeAt(1);
    const gate = Promise.withResolvers<void>();
    const [slow, newer, newest] = [peerAt(2, gate.promise), peerAt(3), peerAt(4)];
    const work = [
      exchange.reach('cities', 2, slow.caller),
      exchange.reach('cities', 3, newer.caller),
      exchange.reach('cities', 4, newest.caller),
    ];
    gate.resolve();
    const reached = await Promise.all(work);
    expect(reached.map(({ ring }) => ring.version).every((v, index) => v >= index + 2)).toBe(true);
  });

  test('succeeds for others if one fetch breaks off', async () => {
    const { exchange } = exchangeAt(1);
    const broken = exchange.reach('cities', 2, gone);
    const good = exchange.reach('cities', 3, peerAt(3).caller);
    await expect(broken).rejects.toThrow(expect.objectContaining({ code: 'PEER_UNREACHABLE' }));
    expect((await good).ring.version).toBe(3);
  });

  test('succeeds with a newer ring that was pushed meanwhile', async () => {
    const { exchange, rings } = exchangeAt(1);
    const gate = Promise.withResolvers<void>();
    const work = exchange.reach('cities', 2, peerAt(2, gate.promise).caller);
    await rings.adopt(encodeRing(ringOf(4)).bytes);
    gate.resolve();
    expect((await work).ring.version).toBe(4);
  });

  test('fails if the caller itself does not have the version', async () => {
    const { exchange } = exchangeAt(1);
    await expect(exchange.reach('cities', 9, peerAt(2).caller)).rejects.toThrow(
      expect.objectContaining({ code: 'RING_VERSION_UNKNOWN' }),
    );
  });
});

describe('the source of a fetched ring', () => {
  const exchangeWith = (connectBack: ConnectBack) => {
    const { rings, adopted } = exchangeAt(1);
    return { exchange: new RingExchange(rings, { connectBack }), adopted };
  };

  test('is the server that the caller names, called back, and not the caller', async () => {
    const [caller, called] = [peerAt(3), peerAt(2)];
    const { exchange, adopted } = exchangeWith(() => Promise.resolve(called.caller));
    expect((await exchange.reach('cities', 2, caller.caller)).ring.version).toBe(2);
    expect([adopted, caller.asked, called.asked]).toEqual([[2], [], [2]]);
  });

  test('is never a caller that no ring names', async () => {
    const caller = peerAt(3);
    const { exchange, adopted } = exchangeWith(() => Promise.resolve(null));
    const hint = 'ring-builder push cities';
    await expect(exchange.reach('cities', 2, caller.caller)).rejects.toThrow(
      expect.objectContaining({ code: 'RING_VERSION_UNKNOWN', hint }),
    );
    expect([adopted, caller.asked]).toEqual([[], []]);
    expect((await exchange.reach('cities', 1, caller.caller)).ring.version).toBe(1);
  });

  const { bytes } = encodeRing(ringOf(3));
  test.each([
    ['a byte at a time', bytes.subarray(0, 1), bytes.length],
    ['nothing at a time', bytes.subarray(0, 0), bytes.length],
    ['more than it says', bytes, bytes.length - 1],
  ])('is dropped at the first chunk if it sends %s', async (_name, data, bytesSaid) => {
    const asked: unknown[] = [];
    const call = (_kind: unknown, request: unknown): Promise<unknown> => {
      asked.push(request);
      return Promise.resolve({
        version: 3,
        id: idOf(ringOf(3)),
        bytes: bytesSaid,
        isDelta: false,
        data,
      });
    };
    const { exchange } = exchangeAt(null);
    const fetched = exchange.catchUp('cities', { call: call as Caller['call'] });
    await expect(fetched).rejects.toThrow(expect.objectContaining({ code: 'PEER_FAILED' }));
    expect(asked).toHaveLength(1);
  });

  test('sends only the start of a ring that will be refused', async () => {
    const { rings } = exchangeAt(null);
    rings.checkFirstBytes = () =>
      Promise.reject(new CodedError('SIGNATURES_MISSING', 'nobody here trusts that'));
    const exchange = new RingExchange(rings);
    const asked: unknown[] = [];
    const data = Buffer.alloc(transferChunkBytesMax);
    const call = (_kind: unknown, request: unknown): Promise<unknown> => {
      asked.push(request);
      const announced = 100 * transferChunkBytesMax;
      return Promise.resolve({
        version: 3,
        id: 'a'.repeat(64),
        bytes: announced,
        isDelta: false,
        data,
      });
    };
    await expect(exchange.catchUp('cities', { call: call as Caller['call'] })).rejects.toThrow(
      expect.objectContaining({ code: 'SIGNATURES_MISSING' }),
    );
    expect(asked).toHaveLength(1);
  });
});

describe('catching up with all rings of a peer', () => {
  const heads = ['first', 'second', 'third'].map((keyspace) => {
    return { keyspace, version: 9, id: 'a'.repeat(64), signers: 0 };
  });
  test.each([
    ['RING_FILE_INVALID', ['first', 'second', 'third'], 3],
    ['PEER_TIMEOUT', ['first'], 1],
  ] as const)('continues or stops by the error of a ring: %s', async (code, expected, refused) => {
    const { exchange } = exchangeAt(1);
    const asked: string[] = [];
    const call = (_kind: unknown, { keyspace }: { keyspace: string }): Promise<unknown> => {
      asked.push(keyspace);
      return Promise.reject(new CodedError(code, keyspace));
    };
    const refusals = await exchange.catchUpAll(heads, { call: call as Caller['call'] }, 'a peer');
    expect([asked, refusals.length]).toEqual([expected, refused]);
  });
});

describe('a fetch as a delta', () => {
  /** A peer that answers a request with a base by this delta, and others by the whole file. */
  function deltaPeer(delta: Uint8Array) {
    const { bytes, id } = encodeRing(ringOf(2));
    const asked: string[] = [];
    const call = (_kind: unknown, { base }: { base: RingHead | null }): Promise<unknown> => {
      asked.push(base === null ? 'whole' : `from ${base.version}`);
      const data = base === null ? bytes : delta;
      const isDelta = base !== null;
      return Promise.resolve({ version: 2, id, bytes: data.length, isDelta, data });
    };
    return { asked, caller: { call: call as Caller['call'] } };
  }
  const good = makeRingDelta(encodeRing(ringOf(1)).bytes, encodeRing(ringOf(2)).bytes)!;

  test('names the ring that is here, and makes the new ring from the delta', async () => {
    const { exchange, adopted } = exchangeAt(1);
    const { asked, caller } = deltaPeer(good);
    await exchange.catchUp('cities', caller);
    expect([adopted, asked]).toEqual([[2], ['from 1']]);
  });

  test.each([
    ['another base', makeRingDelta(encodeRing(ringOf(3)).bytes, encodeRing(ringOf(2)).bytes)!],
    [
      'a flipped bit',
      Buffer.from(good.map((byte, at) => (at === good.length - 3 ? byte ^ 1 : byte))),
    ],
  ])('fetches the whole file if the delta has %s', async (...[, delta]) => {
    const { exchange, adopted } = exchangeAt(1);
    const { asked, caller } = deltaPeer(delta);
    await exchange.catchUp('cities', caller);
    expect([adopted, asked]).toEqual([[2], ['from 1', 'whole']]);
  });
});

describe('an upload', () => {
  const { bytes, id } = encodeRing(ringOf(2));
  const offered = { keyspace: 'cities', version: 2, id, bytes: bytes.length, signers: 0 };

  test('arrives in chunks, in order, and once per connection', async () => {
    const { exchange, adopted } = exchangeAt(1);
    exchange.offer(offered, gone);
    const half = bytes.length >> 1;
    expect(await exchange.chunk({ id, offset: 0, data: bytes.subarray(0, half) }, gone)).toEqual({
      active: null,
    });
    const rest = { id, offset: half, data: bytes.subarray(half) };
    const other = peerAt(1).caller;
    await expect(exchange.chunk(rest, other)).rejects.toThrow(/expected an offer/);
    expect((await exchange.chunk(rest, gone)).active?.version).toBe(2);
    expect(adopted).toEqual([2]);
    await expect(exchange.chunk(rest, gone), 'the upload has ended').rejects.toThrow(
      /expected an offer/,
    );
  });

  test('refuses a gap, a repeat, an empty or too long chunk, and continues', async () => {
    const { exchange } = exchangeAt(1);
    exchange.offer(offered, gone);
    const first = { id, offset: 0, data: bytes.subarray(0, 10) };
    await exchange.chunk(first, gone);
    for (const chunk of [
      first,
      { id, offset: 20, data: bytes.subarray(20) },
      { id, offset: 10, data: new Uint8Array() },
      { id, offset: 10, data: bytes },
      { id: 'f'.repeat(64), offset: 10, data: bytes.subarray(10) },
    ]) {
      await expect(exchange.chunk(chunk, gone)).rejects.toThrow(CodedError);
    }
    const rest = { id, offset: 10, data: bytes.subarray(10) };
    expect((await exchange.chunk(rest, gone)).active?.version).toBe(2);
  });
});

describe('sending a ring', () => {
  const file = encodeRing(ringOf(3));
  const deltaTo = (version: number) =>
    makeRingDelta(encodeRing(ringOf(version)).bytes, file.bytes)!;

  /** A server in this process, which records the methods that are called. */
  function serverAt(version: number | null, beforeDelta?: (rings: Rings) => Promise<unknown>) {
    const { exchange, rings, adopted } = exchangeAt(version);
    const methods: string[] = [];
    const call = async (kind: { readonly method: string }, request: never): Promise<unknown> => {
      methods.push(kind.method);
      if (kind.method === 'ring-offer') return exchange.offer(request, caller);
      if (kind.method === 'ring-chunk') return exchange.chunk(request, caller);
      await beforeDelta?.(rings);
      return exchange.delta(request, caller);
    };
    const caller: Caller = { call: call as Caller['call'] };
    return { caller, adopted, methods };
  }

  function send(caller: Caller, delta: SentRing['deltaFrom']) {
    const head = { keyspace: 'cities', version: 3, id: file.id };
    return sendRing(caller, { ...head, bytes: file.bytes, deltaFrom: delta, timeoutMs: 1_000 });
  }
  const never: SentRing['deltaFrom'] = () => expect.unreachable();

  test('takes a delta from the active ring, in fewer bytes', async () => {
    for (const version of [1, 2]) {
      const { caller, adopted } = serverAt(version);
      const sending = await send(caller, (base) => Promise.resolve(deltaTo(base.version)));
      expect(sending).toEqual({ how: 'delta', bytesSent: deltaTo(version).length });
      expect(sending.bytesSent).toBeLessThan(file.bytes.length);
      expect(adopted).toEqual([3]);
    }
  });

  test('takes the whole file if no ring is active or the sender does not know it', async () => {
    const whole = { how: 'whole', bytesSent: file.bytes.length };
    expect(await send(serverAt(null).caller, never)).toEqual(whole);
    expect(await send(serverAt(1).caller, () => Promise.resolve(null))).toEqual(whole);
  });

  test('takes no bytes if the ring is already active', async () => {
    expect(await send(serverAt(3).caller, never)).toEqual({ how: 'had', bytesSent: 0 });
  });

  test('takes the whole file after a damaged delta or one for another ring', async () => {
    const damaged = Buffer.from(deltaTo(1));
    damaged[damaged.length - 5]! ^= 0xff;
    for (const delta of [damaged, deltaTo(2)]) {
      const { caller, adopted, methods } = serverAt(1);
      const sending = await send(caller, () => Promise.resolve(delta));
      const bytesSent = delta.length + file.bytes.length;
      expect(sending).toEqual({ how: 'whole', bytesSent });
      expect(adopted).toEqual([3]);
      const offer = ['ring-offer', 'ring-delta', 'ring-chunk'];
      expect(methods).toEqual([...offer, 'ring-offer', 'ring-chunk']);
    }
  });

  test('takes the whole file, or nothing, if the base is replaced before the delta', async () => {
    const delta: SentRing['deltaFrom'] = (base) => Promise.resolve(deltaTo(base.version));
    const moved = serverAt(1, (rings) => rings.adopt(encodeRing(ringOf(2)).bytes));
    expect(await send(moved.caller, delta)).toMatchObject({ how: 'whole' });
    expect(moved.adopted).toEqual([2, 3]);
    const there = serverAt(1, (rings) => rings.adopt(file.bytes));
    expect(await send(there.caller, delta)).toMatchObject({ how: 'had' });
    expect(there.adopted).toEqual([3]);
  });

  test('a delta without an offer, for another ring, or after a chunk is refused', async () => {
    const { exchange } = exchangeAt(1);
    const request = { id: file.id, base: encodeRing(ringOf(1)).id, bytes: 9 };
    expect(() => exchange.delta(request, gone)).toThrow(/expected an offer/);
    const head = {
      keyspace: 'cities',
      version: 3,
      id: file.id,
      bytes: file.bytes.length,
      signers: 0,
    };
    exchange.offer(head, gone);
    expect(() => exchange.delta({ ...request, id: request.base }, gone)).toThrow(/an offer/);
    await exchange.chunk({ id: file.id, offset: 0, data: file.bytes.subarray(0, 5) }, gone);
    expect(() => exchange.delta(request, gone)).toThrow(/an offer/);
    exchange.offer(head, gone);
    exchange.delta(request, gone);
    await expect(
      exchange.chunk({ id: file.id, offset: 0, data: file.bytes }, gone),
    ).rejects.toThrow(/more bytes than the 9 offered/);
  });
});
