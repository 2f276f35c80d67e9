// The permissions that a command of the Redis protocol requires, by its effect on which keys.
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
  // Callers without a token must not learn whether a ring is here.
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
