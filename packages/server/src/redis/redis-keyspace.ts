// The keyspace of a Redis connection: the selected one, the server's default, or the only ring.
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { textOf } from './redis-args.ts';
import { type RedisCall, RedisRefusal } from './redis-command.ts';
import { okReply, type RespReply } from './resp-reply.ts';

/** Throws a refusal if nothing says which keyspace is meant. */
export function currentKeyspace({
  ports,
  keyspace,
}: Pick<RedisCall, 'ports' | 'keyspace'>): string {
  const chosen = keyspace ?? ports.about.keyspace;
  if (chosen !== null) return chosen;
  const rings = ports.coordinator.rings.list();
  const [only] = rings;
  if (rings.length === 1 && only !== undefined) return only.ring.keyspace;
  const state = rings.length === 0 ? 'no ring is here yet' : `${rings.length} rings are here`;
  throw new RedisRefusal(
    `ERR no keyspace: ${state}; SELECT one by its name or start with --redis-keyspace`,
  );
}

/** SELECT 0 is the default keyspace; SELECT name is the ring of that name. */
export function select(call: RedisCall): RespReply {
  const name = textOf(call.args[0]);
  const { rings } = call.ports.coordinator;
  if (name === '0') call.client.keyspace = null;
  else if (keyspaceNamePattern.test(name) && rings.find(name) !== undefined) {
    call.client.keyspace = name;
  } else if (/^-?\d+$/.test(name)) throw new RedisRefusal('ERR DB index is out of range');
  else throw new RedisRefusal(`ERR no ring '${name.slice(0, 64)}' is here`);
  return okReply;
}
