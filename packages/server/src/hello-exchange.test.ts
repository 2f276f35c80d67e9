// Tests what a server believes of a hello: nothing that the caller claims, and only the plausible
// statements of the server that it names, made when that server is greeted.
import { storedAccess } from '@ringwright/access/open-access';
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { believedPeersMax, generationLeadMax } from '@ringwright/base/limits-rings';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import type { Generation, hello } from '@ringwright/wire/hello';
import type { RequestOf } from '@ringwright/wire/message';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, onTestFinished, test, vi } from 'vitest';
import { granted, signedAccess, testToken } from '../../../test/support/access.ts';
import { openGuard } from '../../../test/support/open-guard.ts';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { activeOn, identityOf, servedRing } from '../../../test/support/served-ring.ts';
import { credentialFrom } from './access/credential.ts';
import { PeerClocks } from './clocks/peer-clocks.ts';
import { DeviceGeneration } from './device/device-generation.ts';
import { answerHello, greet, type HelloPorts } from './hello-exchange.ts';
import { KnownPeers } from './peers/known-peers.ts';
import { PeerMemory } from './peers/peer-memory.ts';

type Hello = RequestOf<typeof hello>;

const ring = servedRing();
const member = '127.0.0.1:6201';
const other = '127.0.0.1:6202';
const nowMs = 1_763_692_800_000;
const nobody: Caller = { call: () => Promise.reject(new Error('not called')) };
const newRing = { keyspace: 'invented', version: 9, id: 'a'.repeat(64), signers: 0 };
const generationOf = (born: string, age: number): Generation => ({ born, age, mark: 'm' });

const helloWith = (fields: Partial<Hello>): Hello => ({
  wireVersion,
  address: '',
  life: null,
  settled: true,
  ms: nowMs,
  rings: [],
  remembered: null,
  access: null,
  ...fields,
});

interface DeviceShape {
  readonly named?: Ring;
  readonly hasRing?: boolean;
  readonly cooldown?: () => Promise<unknown>;
}

/** Makes a device with or without a ring. `there` holds what other servers answer to a greeting. */
async function device({ named = ring, hasRing = true, cooldown }: DeviceShape = {}) {
  const folder = await scratchFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const identity = identityOf(ring, 0);
  const memory = await PeerMemory.load(folder.path);
  onTestFinished(() => memory.close());
  const there = new Map<string, Partial<Hello>>();
  const greeted: string[] = [];
  const refills: Generation[] = [];
  const caughtUp: string[] = [];
  const refused: string[] = [];
  const sent: string[] = [];
  const heard: string[] = [];
  const unheard: string[] = [];
  const held = { has: hasRing };
  const rings = { list: () => (held.has ? [activeOn(named, 0)] : []), signers: () => 0 };
  const call = (address: string) => () => {
    const fields = there.get(address);
    const away = new CodedError('PEER_UNREACHABLE', 'away');
    return fields === undefined ? Promise.reject(away) : Promise.resolve(helloWith(fields));
  };
  const greetThere = (address: string): Promise<void> => {
    greeted.push(address);
    return greet(ports, address, { call: call(address) as Caller['call'] });
  };
  const peerClocks = new PeerClocks(() => 0);
  const clock = new HybridClock(
    () => nowMs,
    () => peerClocks.agreedMs(nowMs),
  );
  const ports: HelloPorts = {
    identity,
    guard: openGuard(),
    trustExchange: { align: () => Promise.resolve() },
    access: { head: null },
    memory,
    clock,
    peerClocks,
    rings: rings as unknown as HelloPorts['rings'],
    exchange: {
      lacks: (heads: readonly unknown[]) => heads.length > 0,
      catchUpAll: (heads: readonly unknown[], _peer: Caller, from: string) => {
        if (heads.length > 0) caughtUp.push(from);
        return Promise.resolve([]);
      },
    } as unknown as HelloPorts['exchange'],
    generation: await DeviceGeneration.begin(folder.path, identity.born),
    store: { info: () => null } as unknown as HelloPorts['store'],
    pause: () => Promise.resolve(),
    mutex: new KeyedMutex(),
    knownPeers: new KnownPeers(identity, {
      rings,
      connect: () => Promise.resolve(nobody),
      greet: greetThere,
      ...(cooldown !== undefined && { cooldown }),
    }),
    proven: { speaksFor: () => true },
    wireVersions: new Map(),
    unknownPeers: new Set(),
    refusingPeers: new Set(),
    nowMs: () => nowMs,
    isComplete: () => true,
    relay: {
      send: (to: string) => {
        sent.push(to);
        return Promise.resolve();
      },
    },
    onPeerHello: (address) => heard.push(address),
    onUnknownPeerHello: (address) => unheard.push(address),
    onRefill: (remembered) => refills.push(remembered),
    onRingRefused: (from) => refused.push(from),
  };
  const hear = (fields: Partial<Hello>) => answerHello(ports, helloWith(fields), nobody);
  const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    held,
    ports,
    there,
    greeted,
    refills,
    caughtUp,
    sent,
    heard,
    unheard,
    hear,
    flush,
    greetThere,
  };
}

const lies: readonly (readonly [string, Partial<Hello>])[] = [
  ['remembers a later state of this directory', { remembered: generationOf('born 0', 7) }],
  [
    'remembers the highest possible age of this directory',
    { remembered: generationOf('born 0', Number.MAX_SAFE_INTEGER) },
  ],
  ['remembers the next age of this directory', { remembered: generationOf('born 0', 2) }],
  ['reports another data directory', { life: generationOf('x', 1) }],
  ['lists unknown rings', { rings: Array(24).fill(newRing) as Hello['rings'] }],
  ['shows a clock 59 s ahead', { ms: nowMs + 59_000 }],
];

test.each(lies)('a hello of an unknown peer that %s is ignored', async (_name, lie) => {
  const { ports, greeted, refills, caughtUp, heard, unheard, hear, flush } = await device();
  const before = ports.generation.current;
  for (const address of ['10.9.9.9:1', '', 'a@b:1', '127.0.0.1:6200']) {
    await hear({ ...lie, address });
    expect(ports.memory.recall(address)).toBeNull();
  }
  expect(unheard, 'a tool names no address').toEqual(['10.9.9.9:1', 'a@b:1', '127.0.0.1:6200']);
  expect(heard).toEqual([]);
  await flush();
  expect([greeted, refills, caughtUp]).toEqual([[], [], []]);
  expect(ports.generation.current).toEqual(before);
  expect(ports.clock.next(0).ms).toBe(nowMs);
  expect(ports.clock.nowMs()).toBe(nowMs);
});

test.each(lies)('a forged hello of a known peer that %s is not believed', async (_name, lie) => {
  const { ports, there, greeted, refills, caughtUp, heard, hear, flush } = await device();
  const before = ports.generation.current;
  there.set(member, { life: generationOf('true', 5), remembered: before });
  await hear({ ...lie, address: member });
  await flush();
  expect(heard, 'the hello shows that the server runs').toEqual([member]);
  expect(greeted.length, 'at most the known peer itself is greeted').toBeLessThanOrEqual(1);
  expect([refills, caughtUp]).toEqual([[], []]);
  expect(ports.generation.current).toEqual(before);
  expect(ports.memory.recall(member)?.born).not.toBe('x');
  expect(ports.clock.next(0).ms).toBe(nowMs);
});

test('a known peer that remembers a later state is greeted, and believed once', async () => {
  const { ports, there, greeted, refills, hear, flush, greetThere } = await device();
  there.set(member, { remembered: generationOf('born 0', 7) });
  const answer = await hear({ address: member, remembered: generationOf('born 0', 7) });
  expect(refills).toEqual([generationOf('born 0', 7)]);
  expect(answer.life, 'the answer contains the new age').toEqual(ports.generation.current);
  expect(ports.generation.current.age).toBeGreaterThan(1_000);
  // Without this limit, repeated claims of age + 1 would keep all files filling.
  for (let lead = 1; lead <= 3; lead += 1) {
    const remembered = generationOf('born 0', ports.generation.current.age + lead);
    there.set(member, { remembered });
    await hear({ address: member, remembered });
    await greetThere(member);
  }
  await flush();
  expect(refills).toHaveLength(1);
  // Another peer is believed once too, but not with an age that cannot have been counted.
  there.set(other, {
    remembered: generationOf('born 0', ports.generation.current.age + generationLeadMax + 1),
  });
  await greetThere(other);
  expect(refills).toHaveLength(1);
  there.set(other, { remembered: generationOf('born 0', ports.generation.current.age + 1) });
  await greetThere(other);
  expect(refills).toHaveLength(2);
  expect(greeted).toEqual([member, ...Array(3).fill(member), other, other]);
});

test('a peer that reported no later state when greeted is not believed later', async () => {
  const { ports, there, refills, hear, flush, greetThere } = await device();
  there.set(member, { remembered: ports.generation.current });
  await greetThere(member);
  // It changes its claim. If all holders refilled on it at once, no complete copy would be left.
  const remembered = generationOf('born 0', ports.generation.current.age + 1);
  there.set(member, { remembered });
  await hear({ address: member, remembered });
  await greetThere(member);
  await flush();
  expect(refills).toEqual([]);
  // Another peer was not greeted before, and is believed.
  there.set(other, { remembered });
  await greetThere(other);
  expect(refills).toEqual([remembered]);
});

test('a hello that reports a later state fails if its sender cannot be reached', async () => {
  const { refills, hear } = await device();
  const hearing = hear({ address: member, remembered: generationOf('born 0', 7) });
  await expect(hearing).rejects.toThrow(expect.objectContaining({ code: 'PEER_UNREACHABLE' }));
  expect(refills).toEqual([]);
});

test('a peer that reports a later state is greeted again until it answers', async () => {
  const cooldowns: (() => void)[] = [];
  const cooldown = () => new Promise<void>((resolve) => void cooldowns.push(resolve));
  const { there, greeted, refills, hear, flush } = await device({ cooldown });
  const remembered = generationOf('born 0', 7);
  await expect(hear({ address: member, remembered })).rejects.toThrow(CodedError);
  await flush();
  cooldowns.pop()?.();
  await flush();
  expect([greeted, refills]).toEqual([[member, member], []]);
  there.set(member, { remembered });
  cooldowns.pop()?.();
  await vi.waitFor(() => expect(refills).toEqual([remembered]));
  const asked = greeted.length;
  cooldowns.pop()?.();
  await flush();
  expect(greeted, 'no greeting follows the answer').toHaveLength(asked);
});

test('two servers that greet each other with later states do not deadlock', async () => {
  const { ports, refills, hear } = await device();
  const remembered = generationOf('born 0', 7);
  const call = async (): Promise<Hello> => {
    // The peer's own hello arrives before it answers the greeting.
    await hear({ address: member, remembered });
    return helloWith({ remembered });
  };
  await greet(ports, member, { call: call as Caller['call'] });
  expect(refills).toEqual([remembered]);
});

test('clock, directory and rings of a peer are taken from its answer to a greeting', async () => {
  const { ports, there, greeted, caughtUp, sent, hear, flush } = await device();
  there.set(member, { life: generationOf('true', 5), rings: [newRing], ms: nowMs - 30_000 });
  await hear({ address: member, life: generationOf('true', 5) });
  await flush();
  expect(greeted).toEqual([member]);
  expect(caughtUp).toEqual([member]);
  expect(sent, 'the peer gets the rings that it lacks').toEqual([member]);
  expect(ports.memory.recall(member)).toEqual(generationOf('true', 5));
  expect(ports.clock.nowMs(), 'the slower of two clocks counts').toBe(nowMs - 29_000);
  await hear({ address: member, life: generationOf('true', 5) });
  await flush();
  expect(greeted, 'a hello without news causes no greeting').toEqual([member]);
});

test('a directory is not settled for a peer that has rings which are not here yet', async () => {
  const { hear } = await device();
  const answers = [
    await hear({ address: member }),
    await hear({ address: member, rings: [newRing] }),
  ];
  expect(answers.map(({ settled }) => settled)).toEqual([true, false]);
});

test("a peer's clock is learned before the refill that its answer causes", async () => {
  const { ports, refills } = await device();
  const agreed: number[] = [];
  const onRefill: HelloPorts['onRefill'] = (remembered) => {
    refills.push(remembered);
    agreed.push(ports.clock.nowMs());
  };
  const fields = helloWith({ remembered: generationOf('born 0', 7), ms: nowMs - 30_000 });
  const call = (): Promise<Hello> => Promise.resolve(fields);
  await greet({ ...ports, onRefill }, member, { call: call as Caller['call'] });
  expect([refills.length, agreed]).toEqual([1, [nowMs - 29_000]]);
});

test('claims made before the first ring do not count for servers it does not name', async () => {
  const { held, ports, there, hear, flush, greetThere } = await device({ hasRing: false });
  const hourBehind = nowMs - 3_600_000;
  for (let port = 1; port <= 16; port += 1) {
    const unknown = `10.0.0.8:${port}`;
    there.set(unknown, { rings: [newRing], life: generationOf('x', 1), ms: hourBehind });
    await hear({ address: unknown, rings: [newRing] });
  }
  await flush();
  held.has = true;
  for (const right of [member, other]) {
    there.set(right, {});
    await greetThere(right);
  }
  expect(ports.peerClocks.aheadMs(nowMs)).toBe(0);
  expect(ports.clock.nowMs()).toBe(nowMs);
  expect(ports.memory.recall('10.0.0.8:1')).toBeNull();
  expect(await ports.knownPeers.connectBack(nobody)).toBe(nobody);
});

test('a device without a ring greets unknown callers, up to 16 addresses', async () => {
  const { ports, there, greeted, caughtUp, hear, flush } = await device({ hasRing: false });
  there.set('10.0.0.7:1', { rings: [newRing] });
  await hear({ address: '10.0.0.7:1', rings: [newRing] });
  await flush();
  expect([greeted, caughtUp]).toEqual([['10.0.0.7:1'], ['10.0.0.7:1']]);
  for (let port = 1; port < 100; port += 1)
    await hear({ address: `10.0.0.8:${port}`, rings: [newRing] });
  await hear({ address: 'user@10.0.0.9:1/path', rings: [newRing] });
  await flush();
  expect(greeted).toHaveLength(16);
  expect(await ports.knownPeers.connectBack(nobody)).toBe(nobody);
});

test('believed addresses are forgotten only beyond the limit, oldest first', async () => {
  const { knownPeers } = (await device()).ports;
  const addresses = Array.from({ length: believedPeersMax + 2 }, (_, id) => `10.0.0.1:${id}`);
  for (const address of addresses) knownPeers.noteRestoreReport(address);
  const believed = addresses.filter((address) => knownPeers.hasReportedRestore(address));
  expect(believed).toEqual(addresses.slice(2));
});

test('a server counts as being greeted until its last greeting has ended', async () => {
  const { knownPeers } = (await device()).ports;
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const greetings = [first, second].map(({ promise }) =>
    knownPeers.whileGreeting(member, () => promise),
  );
  first.reject(new Error('away'));
  await expect(greetings[0]).rejects.toThrow('away');
  expect([knownPeers.isGreeting(member), knownPeers.isGreeting(other)]).toEqual([true, false]);
  second.resolve();
  await greetings[1];
  expect(knownPeers.isGreeting(member)).toBe(false);
});

test('an answer at a replication address counts only if its own device gives it', async () => {
  const replication = { ip: '127.0.0.2', port: 6301 };
  const devices = ring.devices.map((one) => (one?.id === 1 ? { ...one, replication } : one));
  const { ports, there, greetThere } = await device({ named: { ...ring, devices } });
  const fields = { life: generationOf('born 1', 3) };
  there.set('127.0.0.2:6301', { ...fields, address: member });
  await greetThere('127.0.0.2:6301');
  expect(ports.memory.recall(member)).toMatchObject({ born: 'born 1', age: 3 });
  expect(ports.wireVersions.has(member)).toBe(true);
  there.set('127.0.0.2:6301', { life: generationOf('born 2', 9), address: other });
  await expect(greetThere('127.0.0.2:6301')).rejects.toMatchObject({
    code: 'PEER_UNPROVEN',
    details: { address: member, said: other },
  });
  expect(ports.memory.recall(member)).toMatchObject({ born: 'born 1', age: 3 });
});

test('a peer that does not say who it is refuses this server', async () => {
  const { ports, there, greetThere } = await device();
  there.set(member, { life: null });
  await greetThere(member);
  expect([...ports.refusingPeers]).toEqual([member]);
  there.set(member, { life: generationOf('born 1', 3) });
  await greetThere(member);
  expect([...ports.refusingPeers]).toEqual([]);
});

test('a caller learns of the rings whose records it may read or write', async () => {
  const { ports } = await device();
  const named = [ring.keyspace, 'other', `${ring.keyspace}s`].map((keyspace) =>
    granted(keyspace, [{ role: 'read', keyspace, prefix: 'a' }]),
  );
  const tokens = [...named, granted('bob', [{ role: 'metrics' }])];
  const access = storedAccess(signedAccess({ tokens }));
  const guard = openGuard(access);
  const ringsFor = async (id: string): Promise<string[]> => {
    const caller: Caller = { ...nobody };
    guard.show(caller, credentialFrom('10.0.0.9:1', testToken(id)));
    const { rings } = await answerHello({ ...ports, guard }, helloWith({}), caller);
    return rings.map(({ keyspace }) => keyspace);
  };
  const ids = tokens.map(({ id }) => id);
  const answers = await Promise.all(ids.map(async (id) => [id, await ringsFor(id)]));
  expect(answers).toEqual([
    [ring.keyspace, [ring.keyspace]],
    ['other', []],
    [`${ring.keyspace}s`, []],
    ['bob', [ring.keyspace]],
  ]);
});
