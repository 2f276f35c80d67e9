// A command of the Redis protocol: its form, what it does to which words, what it needs, and what
// it is given.

import { anyToken, type Need, nothing } from '@ringwright/access/need';
import { hasCode } from '@ringwright/base/coded-error';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import type { Credential } from '../access/credential.ts';
import type { Guard } from '../access/guard.ts';
import type { NewContent } from '../coordinate/propose.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import type { RespReply, RespVersion } from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';
import type { ScanCursors } from './scan-cursors.ts';

/** The choices of one connection, which commands such as SELECT change. */
export interface RedisClient {
  readonly id: number;
  readonly address: string;
  name: string;
  /** Null: the server's default keyspace. */
  keyspace: string | null;
  consistency: ConsistencyLevel;
  protocol: RespVersion;
  credential: Credential;
  /** MULTI was refused, and neither EXEC nor DISCARD has followed yet. */
  isInRefused: boolean;
}

export interface RedisPorts {
  readonly guard: Guard;
  readonly coordinator: CoordinatorPorts;
  readonly cursors: ScanCursors;
  readonly about: RedisAbout;
}

export interface RedisSettings {
  readonly device: string;
  readonly port: number;
  /** The keyspace of connections that have not selected one; null: the only ring there is. */
  readonly keyspace: string | null;
  readonly consistency: ConsistencyLevel;
}

/** What INFO, HELLO and CONFIG report. */
export interface RedisAbout extends RedisSettings {
  readonly uptimeMs: () => number;
  readonly connections: () => number;
  readonly commands: () => number;
}

export interface RedisCall {
  readonly ports: RedisPorts;
  readonly client: RedisClient;
  /** The words after the command name. */
  readonly args: RespRequest;
  /** As chosen when the request was read: later requests of the pipeline do not change it. */
  readonly keyspace: string | null;
  readonly consistency: ConsistencyLevel;
}

interface CommandForm {
  /** Number of words including the name, as Redis counts: 2 is exactly two, -2 is two or more. */
  readonly arity: number;
  /** Which words after the name are keys. */
  readonly keys: 'none' | 'first' | 'all' | 'even';
  /** What the command does to its keys; `swap` reads and then writes. */
  readonly effect: 'none' | 'read' | 'write' | 'swap';
  /** Whether these words after the name make a writing command read too. */
  readonly isReadModifyWrite?: (args: RespRequest) => boolean;
  /** For commands without keys: what they require if it is not any valid token. */
  readonly needs?: 'nothing' | 'keyspace';
}

interface Runs {
  readonly run: (call: RedisCall) => MaybePromise<RespReply>;
}

interface WritesPlainly {
  /**
   * Returns the new content of the first key, for a call with effect `write`. The command does
   * nothing else, and its answer is OK. Throws Redis's refusals.
   */
  readonly plainWrite: (call: Pick<RedisCall, 'ports' | 'args'>) => NewContent;
}

export type RedisCommand = CommandForm &
  ((Runs & Partial<WritesPlainly>) | (WritesPlainly & Partial<Runs>));

/** An answer that begins with `-`. The client shows its text. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal';

  /** Clients can cause these at any rate, and nobody reads the stack: see withoutStack. */
  constructor(text: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(text);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Whether the command accepts this number of words. */
export function fitsArity({ arity }: Pick<RedisCommand, 'arity'>, args: number): boolean {
  return arity >= 0 ? args === arity : args >= -arity;
}

export function keysOf({ keys }: RedisCommand, args: RespRequest): readonly Uint8Array[] {
  if (keys === 'none') return [];
  if (keys === 'first') return args.slice(0, 1);
  return keys === 'all' ? args : args.filter((_, index) => index % 2 === 0);
}

/**
 * The keyspace that the connection selected, the server's default, or the only ring. Throws a
 * refusal when nothing says which is meant.
 */
export function currentKeyspace({
  ports,
  keyspace,
}: Pick<RedisCall, 'ports' | 'keyspace'>): string {
  const chosen = keyspace ?? ports.about.keyspace;
  if (chosen !== null) return chosen;
  const rings = ports.coordinator.rings.list();
  const [only] = rings;
  if (rings.length === 1 && only !== undefined) return only.ring.keyspace;
  const state =
    rings.length === 0 ? 'this server has no ring yet' : `this server has ${rings.length} rings`;
  throw new RedisRefusal(
    `ERR no keyspace: ${state}; SELECT one by its name or start with --redis-keyspace`,
  );
}

/** Whether the caller may learn that this server has the ring: it needs a permission for it. */
export function mayKnow(
  { ports, client }: Pick<RedisCall, 'ports' | 'client'>,
  name: string,
): boolean {
  if (!keyspaceNamePattern.test(name)) return false;
  return ports.guard.allowsTo(client.credential, { kind: 'ring', keyspace: name });
}

/**
 * Throws TOKEN_MISSING, TOKEN_REFUSED, PERMISSION_MISSING, and a refusal that does not name a
 * default keyspace of others.
 */
export function requireCommand(
  command: RedisCommand,
  call: RedisCall,
  effect: RedisCommand['effect'],
): void {
  const { guard } = call.ports;
  if (!guard.demands) return;
  // Callers without a token must not learn whether a ring is here.
  if (command.needs !== 'nothing') guard.require(call.client.credential, [anyToken]);
  const needs = commandNeeds(command, call, effect);
  try {
    guard.require(call.client.credential, needs);
  } catch (error) {
    const isChosen = call.keyspace !== null || !hasCode(error, 'PERMISSION_MISSING');
    if (isChosen || mayKnow(call, currentKeyspace(call))) throw error;
    throw new RedisRefusal(
      'NOPERM this token has no role in the keyspace of database 0: SELECT its own by name',
    );
  }
}

function commandNeeds(
  command: RedisCommand,
  call: RedisCall,
  effect: RedisCommand['effect'],
): readonly Need[] {
  if (command.needs === 'nothing') return [nothing];
  if (command.needs === 'keyspace') {
    return [{ kind: 'data', role: 'read', keyspace: currentKeyspace(call), key: null }];
  }
  if (effect === 'none') return [anyToken];
  const keyspace = currentKeyspace(call);
  const roles = effect === 'swap' ? (['write', 'read'] as const) : [effect];
  return keysOf(command, call.args).flatMap((key) =>
    roles.map((role): Need => ({ kind: 'data', role, keyspace, key })),
  );
}
