// What is believed of a hello: nothing that a caller says, only what the server it names says when
// it is greeted, and only what may be true.
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
import { openGuard } from '../../../test/support/open-guard.ts';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { activeOn, identityOf, servedRing } from '../../../test/support/served-ring.ts';
import { PeerClocks } from './clocks/peer-clocks.ts';
import { DeviceGeneration } from './device/device-generation.ts';
import { answerHello, greet, type IntroducePorts } from './introduce.ts';
import { KnownPeers } from './peers/known-peers.ts';
import { PeerMemory } from './peers/peer-memory.ts';

type Said = RequestOf<typeof hello>;

const ring = servedRing();
const member = '127.0.0.1:6201';
const other = '127.0.0.1:6202';
const nowMs = 1_763_692_800_000;
const nobody: Caller = { call: () => Promise.reject(new Error('not called')) };
const newRing = { keyspace: 'invented', version: 9, id: 'a'.repeat(64), signers: 0 };
const generationOf = (born: string, age: number): Generation => ({ born, age, mark: 'm' });

const saying = (said: Partial<Said>): Said => ({
  wireVersion,
  address: '',
  life: null,
  settled: true,
  ms: nowMs,
  rings: [],
  remembered: null,
  access: null,
  ...said,
});

interface DeviceShape {
  readonly named?: Ring;
  readonly hasRing?: boolean;
  readonly cooldown?: () => Promise<unknown>;
}

/** A device with a ring, or with none; what others say when they are greeted is in `there`. */
async function device({ named = ring, hasRing = true, cooldown }: DeviceShape = {}) {
  const folder = await scratchFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const identity = identityOf(ring, 0);
  const memory = await PeerMemory.load(folder.path);
  onTestFinished(() => memory.close());
  const there = new Map<string, Partial<Said>>();
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
    const said = there.get(address);
    const away = new CodedError('PEER_UNREACHABLE', 'away');
    return said === undefined ? Promise.reject(away) : Promise.resolve(saying(said));
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
  const ports: IntroducePorts = {
    identity,
    guard: openGuard(),
    trustExchange: { align: () => Promise.resolve() },
    access: { head: null },
    memory,
    clock,
    peerClocks,
    rings: rings as unknown as IntroducePorts['rings'],
    exchange: {
      lacks: (heads: readonly unknown[]) => heads.length > 0,
      catchUpAll: (heads: readonly unknown[], _peer: Caller, from: string) => {
        if (heads.length > 0) caughtUp.push(from);
        return Promise.resolve([]);
      },
    } as unknown as IntroducePorts['exchange'],
    generation: await DeviceGeneration.begin(folder.path, identity.born),
    store: { info: () => null } as unknown as IntroducePorts['store'],
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
    nowMs: () => nowMs,
    isComplete: () => true,
    relay: {
      send: (to: string) => {
        sent.push(to);
        return Promise.resolve();
      },
    },
    onHeard: (address) => heard.push(address),
    onUnheard: (address) => unheard.push(address),
    onRefill: (remembered) => refills.push(remembered),
    onRingRefused: (from) => refused.push(from),
  };
  const hear = (said: Partial<Said>) => answerHello(ports, saying(said), nobody);
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

const lies: readonly (readonly [string, Partial<Said>])[] = [
  ['of a later state of this directory', { remembered: generationOf('born 0', 7) }],
  [
    'of the latest state there could be',
    { remembered: generationOf('born 0', Number.MAX_SAFE_INTEGER) },
  ],
  ['of the next state', { remembered: generationOf('born 0', 2) }],
  ['of a directory of its own', { life: generationOf('x', 1) }],
  ['of rings', { rings: Array(24).fill(newRing) as Said['rings'] }],
  ['of a clock a minute ahead', { ms: nowMs + 59_000 }],
];

test.each(lies)('an unknown peer lies %s: nothing happens', async (_name, lie) => {
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

test.each(lies)('whoever lies %s in the name of a member is not believed', async (_name, lie) => {
  const { ports, there, greeted, refills, caughtUp, heard, hear, flush } = await device();
  const before = ports.generation.current;
  there.set(member, { life: generationOf('true', 5), remembered: before });
  await hear({ ...lie, address: member });
  await flush();
  expect(heard, 'it is reason enough to connect').toEqual([member]);
  expect(greeted.length, 'the member itself is asked').toBeLessThanOrEqual(1);
  expect([refills, caughtUp]).toEqual([[], []]);
  expect(ports.generation.current).toEqual(before);
  expect(ports.memory.recall(member)?.born).not.toBe('x');
  expect(ports.clock.next(0).ms).toBe(nowMs);
});

test('a member that knows a later state is asked back and believed, once', async () => {
  const { ports, there, greeted, refills, hear, flush, greetThere } = await device();
  there.set(member, { remembered: generationOf('born 0', 7) });
  const answer = await hear({ address: member, remembered: generationOf('born 0', 7) });
  expect(refills).toEqual([generationOf('born 0', 7)]);
  expect(answer.life, 'what is told is the new age').toEqual(ports.generation.current);
  expect(ports.generation.current.age).toBeGreaterThan(1_000);
  // Age + 1, again and again, kept all files filling.
  for (let lead = 1; lead <= 3; lead += 1) {
    const remembered = generationOf('born 0', ports.generation.current.age + lead);
    there.set(member, { remembered });
    await hear({ address: member, remembered });
    await greetThere(member);
  }
  await flush();
  expect(refills).toHaveLength(1);
  // Another one has a word of its own, and nobody an age that was never counted.
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

test('a member that was greeted and did not say so never says so in this life', async () => {
  const { ports, there, refills, hear, flush, greetThere } = await device();
  there.set(member, { remembered: ports.generation.current });
  await greetThere(member);
  // It turned round since: all holders told so at once would have no complete copy left.
  const remembered = generationOf('born 0', ports.generation.current.age + 1);
  there.set(member, { remembered });
  await hear({ address: member, remembered });
  await greetThere(member);
  await flush();
  expect(refills).toEqual([]);
  // Another one was away and knows better.
  there.set(other, { remembered });
  await greetThere(other);
  expect(refills).toEqual([remembered]);
});

test('a member that says so and cannot be asked is not introduced to', async () => {
  const { refills, hear } = await device();
  const hearing = hear({ address: member, remembered: generationOf('born 0', 7) });
  await expect(hearing).rejects.toThrow(expect.objectContaining({ code: 'PEER_UNREACHABLE' }));
  expect(refills).toEqual([]);
});

test('a member that says so while it starts is asked again until it answers', async () => {
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
  expect(greeted, 'it has answered').toHaveLength(asked);
});

test('two that greet each other, each knowing better, do not wait for each other', async () => {
  const { ports, refills, hear } = await device();
  const remembered = generationOf('born 0', 7);
  const call = async (): Promise<Said> => {
    // Its hello comes while this one's is answered.
    await hear({ address: member, remembered });
    return saying({ remembered });
  };
  await greet(ports, member, { call: call as Caller['call'] });
  expect(refills).toEqual([remembered]);
});

test('the clock, the directory and the rings of a member come from where it is', async () => {
  const { ports, there, greeted, caughtUp, sent, hear, flush } = await device();
  there.set(member, { life: generationOf('true', 5), rings: [newRing], ms: nowMs - 30_000 });
  await hear({ address: member, life: generationOf('true', 5) });
  await flush();
  expect(greeted).toEqual([member]);
  expect(caughtUp).toEqual([member]);
  expect(sent, 'and it gets what it lacks').toEqual([member]);
  expect(ports.memory.recall(member)).toEqual(generationOf('true', 5));
  expect(ports.clock.nowMs(), 'of two clocks, the one behind').toBe(nowMs - 29_000);
  await hear({ address: member, life: generationOf('true', 5) });
  await flush();
  expect(greeted, 'no news').toEqual([member]);
});

test('the clock of a member is learned before the refill that it brings', async () => {
  const { ports, refills } = await device();
  const agreed: number[] = [];
  const onRefill: IntroducePorts['onRefill'] = (remembered) => {
    refills.push(remembered);
    agreed.push(ports.clock.nowMs());
  };
  const said = saying({ remembered: generationOf('born 0', 7), ms: nowMs - 30_000 });
  const call = (): Promise<Said> => Promise.resolve(said);
  await greet({ ...ports, onRefill }, member, { call: call as Caller['call'] });
  expect([refills.length, agreed]).toEqual([1, [nowMs - 29_000]]);
});

test('what was said before a ring named anybody counts only for those that it names', async () => {
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
  expect(await ports.knownPeers.callBack(nobody)).toBe(nobody);
});

test('a device without any ring asks whoever calls it, and only so many', async () => {
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
  expect(await ports.knownPeers.callBack(nobody)).toBe(nobody);
});

test('the words that were believed are forgotten only when there are too many', async () => {
  const { knownPeers } = (await device()).ports;
  const addresses = Array.from({ length: believedPeersMax + 2 }, (_, id) => `10.0.0.1:${id}`);
  for (const address of addresses) knownPeers.believe(address);
  const believed = addresses.filter((address) => knownPeers.hasBelieved(address));
  expect(believed).toEqual(addresses.slice(2));
});

test('a server is being greeted until the last of its greetings has ended', async () => {
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

test('a replication address is another way to the same server, or not believed', async () => {
  const replication = { ip: '127.0.0.2', port: 6301 };
  const devices = ring.devices.map((one) => (one?.id === 1 ? { ...one, replication } : one));
  const { ports, there, greetThere } = await device({ named: { ...ring, devices } });
  const said = { life: generationOf('born 1', 3) };
  there.set('127.0.0.2:6301', { ...said, address: member });
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
