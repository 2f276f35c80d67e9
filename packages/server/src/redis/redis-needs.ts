// What a command of the Redis protocol needs, by what it does to which keys.
import { anyToken, type Need, nothing } from '@ringwright/access/need';
import { keysOf, type RedisCall, type RedisCommand } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';

type JudgedCall = RedisCall & { readonly effect: RedisCommand['effect'] };

/** Throws TOKEN_MISSING, TOKEN_REFUSED, PERMISSION_MISSING. */
export function requireCommand(
  command: RedisCommand,
  call: RedisCall,
  effect: RedisCommand['effect'],
): void {
  const { guard } = call.ports;
  if (!guard.demands) return;
  const judged = { ...call, effect };
  // Whether a ring is here is told to nobody unknown.
  if (command.needs !== 'nothing') guard.require(judged.client.credential, [anyToken]);
  guard.require(judged.client.credential, commandNeeds(command, judged));
}

function commandNeeds(command: RedisCommand, call: JudgedCall): readonly Need[] {
  if (command.needs === 'nothing') return [nothing];
  if (command.needs === 'keyspace') {
    return [{ kind: 'data', role: 'read', keyspace: currentKeyspace(call), key: null }];
  }
  const { effect } = call;
  if (effect === 'none') return [anyToken];
  const keyspace = currentKeyspace(call);
  const roles = effect === 'swap' ? (['write', 'read'] as const) : [effect];
  return keysOf(command, call.args).flatMap((key) =>
    roles.map((role): Need => ({ kind: 'data', role, keyspace, key })),
  );
}
