// SET with all its options, and the older commands that are parts of it.
import type { NewContent } from '../coordinate/propose.ts';
import { lowerOf, syntaxError } from './redis-args.ts';
import type { RedisCall, RedisCommand } from './redis-command.ts';
import {
  expiring,
  milliseconds,
  positiveTimeOf,
  seconds,
  type TimeForm,
  timeOptions,
} from './redis-times.ts';
import { swapContent } from './redis-values.ts';
import { integerReply, nullReply, okReply, type RespReply, valueReply } from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';

interface SetOptions {
  readonly only: 'nx' | 'xx' | null;
  readonly isAnswered: boolean;
  /** Expiry time in Unix ms; 0: never; null: unchanged. */
  readonly expiresMs: number | null;
}

function readOptions(args: RespRequest, nowMs: number): SetOptions {
  let only: SetOptions['only'] = null;
  let isAnswered = false;
  let time: { readonly form: TimeForm | null; readonly word?: Uint8Array } | null = null;
  for (let at = 0; at < args.length; at += 1) {
    const option = lowerOf(args[at]);
    const form = timeOptions.get(option) ?? null;
    if (option === 'nx' || option === 'xx') {
      if (only !== null && only !== option) throw syntaxError();
      only = option;
    } else if (option === 'get') isAnswered = true;
    else if ((option !== 'keepttl' && form === null) || time !== null) throw syntaxError();
    else if (form === null) time = { form };
    else {
      at += 1;
      const word = args[at];
      if (word === undefined) throw syntaxError();
      time = { form, word };
    }
  }
  // Last, because a syntax error is reported before a wrong time.
  const context = { command: 'set', nowMs };
  const expiresMs = time === null ? 0 : time.form && positiveTimeOf(time.word, time.form, context);
  return { only, isAnswered, expiresMs };
}

/** Words after the value that make a SET depend on what the key holds. */
const READING = /^(nx|xx|get|keepttl)$/;

type Words = Pick<RedisCall, 'ports' | 'args'>;

/** SET without those words: a key, a value, and possibly an expiry. */
function plainSet({ ports, args: [, value = new Uint8Array(), ...options] }: Words): NewContent {
  if (options.length === 0) return { value };
  const nowMs = ports.coordinator.clock.nowMs();
  return expiring(value, readOptions(options, nowMs).expiresMs ?? 0, nowMs);
}

async function set(call: RedisCall): Promise<RespReply> {
  const [key, value = new Uint8Array(), ...options] = call.args;
  const nowMs = call.ports.coordinator.clock.nowMs();
  const { only, isAnswered, expiresMs } = readOptions(options, nowMs);
  const { before, isChanged } = await swapContent(call, key, (present) => {
    if (only !== null && (only === 'nx') !== (present === null)) return null;
    return expiring(value, expiresMs ?? present?.expiresMs ?? 0, nowMs);
  });
  if (isAnswered) return valueReply(before?.value ?? null);
  return isChanged ? okReply : nullReply;
}

async function setnx(call: RedisCall): Promise<RespReply> {
  const [key, value = new Uint8Array()] = call.args;
  const { isChanged } = await swapContent(call, key, (present) =>
    present === null ? { value } : null,
  );
  return integerReply(isChanged ? 1 : 0);
}

/** Makes a command that returns what the key held, and replaces it. */
const swapping =
  (next: (args: RespRequest) => NewContent) =>
  async (call: RedisCall): Promise<RespReply> => {
    const content = next(call.args);
    const { before } = await swapContent(call, call.args[0], (present) =>
      present === null && content.value === null ? null : content,
    );
    return valueReply(before?.value ?? null);
  };

function plainSetAt(command: 'setex' | 'psetex'): RedisCommand {
  const form = command === 'setex' ? seconds : milliseconds;
  return {
    arity: 4,
    keys: 'first',
    effect: 'write',
    plainWrite: ({ ports, args: [, time, value = new Uint8Array()] }) => {
      const nowMs = ports.coordinator.clock.nowMs();
      return { value, expiresMs: positiveTimeOf(time, form, { command, nowMs }) };
    },
  };
}

const swap = { keys: 'first', effect: 'swap' } as const;

export const setCommands: Readonly<Record<string, RedisCommand>> = {
  set: {
    arity: -3,
    keys: 'first',
    effect: 'write',
    isReadModifyWrite: (args) => args.slice(2).some((word) => READING.test(lowerOf(word))),
    run: set,
    plainWrite: plainSet,
  },
  setnx: { arity: 3, ...swap, run: setnx },
  getset: {
    arity: 3,
    ...swap,
    run: swapping(([, value]) => ({ value: value ?? new Uint8Array() })),
  },
  getdel: { arity: 2, ...swap, run: swapping(() => ({ value: null })) },
  setex: plainSetAt('setex'),
  psetex: plainSetAt('psetex'),
};
