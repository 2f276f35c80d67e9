// What a command of the Redis protocol needs, by what it does to which keys.
import { anyToken, type Need, nothing } from '@ringwright/access/need';
import { keysOf, type RedisCall, type RedisCommand } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';

type Asked = RedisCall & { readonly effect: RedisCommand['effect'] };

/** Throws TOKEN_MISSING, TOKEN_REFUSED, PERMISSION_MISSING. */
export function requireCommand(
  command: RedisCommand,
  call: RedisCall,
  effect: RedisCommand['effect'],
): void {
  const { guard } = call.ports;
  if (!guard.demands) return;
  const asked = { ...call, effect };
  // Whether a ring is here is told to nobody unknown.
  if (command.needs !== 'nothing') guard.require(asked.client.credential, [anyToken]);
  guard.require(asked.client.credential, commandNeeds(command, asked));
}

function commandNeeds(command: RedisCommand, asked: Asked): readonly Need[] {
  if (command.needs === 'nothing') return [nothing];
  if (command.needs === 'keyspace') {
    return [{ kind: 'data', role: 'read', keyspace: currentKeyspace(asked), key: null }];
  }
  const { effect } = asked;
  if (effect === 'none') return [anyToken];
  const keyspace = currentKeyspace(asked);
  const roles = effect === 'swap' ? (['write', 'read'] as const) : [effect];
  return keysOf(command, asked.args).flatMap((key) =>
    roles.map((role): Need => ({ kind: 'data', role, keyspace, key })),
  );
}
