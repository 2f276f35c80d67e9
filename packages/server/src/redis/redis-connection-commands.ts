// Commands about the connection: PING, ECHO, HELLO, AUTH, CLIENT, SELECT and Ringwright's own
// consistency command.
import { anyToken } from '@ringwright/access/need';
import { parseToken } from '@ringwright/access/token';
import { redisClientNameCharactersMax } from '@ringwright/base/limits';
import { credentialFrom } from '../access/credential.ts';
import { parseConsistency } from '../coordinate/request-terms.ts';
import { integerOf, lowerOf, syntaxError, textOf, unknownSubcommand } from './redis-args.ts';
import { mayKnow, type RedisCall, type RedisCommand, RedisRefusal } from './redis-command.ts';
import { redisVersion } from './redis-server-commands.ts';
import {
  arrayReply,
  bulkReply,
  integerReply,
  nullReply,
  okReply,
  type RespReply,
  textReply,
} from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';

function ping({ args }: RedisCall): RespReply {
  if (args.length > 1) throw new RedisRefusal("ERR wrong number of arguments for 'ping' command");
  return args[0] === undefined ? { kind: 'simple', text: 'PONG' } : bulkReply(args[0]);
}

function echo({ args }: RedisCall): RespReply {
  return bulkReply(args[0] ?? new Uint8Array());
}

/** HELLO [version [AUTH name password] [SETNAME name]]. */
function hello(call: RedisCall): RespReply {
  const { client, args, ports } = call;
  const version = args[0] === undefined ? client.protocol : integerOf(args[0]);
  if (version !== 2 && version !== 3)
    throw new RedisRefusal('NOPROTO unsupported protocol version');
  for (let at = 1; at < args.length; ) {
    const option = lowerOf(args[at]);
    if (option === 'setname' && at + 1 < args.length) {
      setName(call, args[at + 1]);
      at += 2;
    } else if (option === 'auth' && at + 2 < args.length) {
      showToken(call, args.slice(at + 1, at + 3));
      at += 3;
    } else throw syntaxError();
  }
  ports.guard.require(client.credential, [anyToken]);
  client.protocol = version;
  return {
    kind: 'map',
    pairs: [
      ['server', textReply('redis')],
      ['version', textReply(redisVersion)],
      ['proto', integerReply(version)],
      ['id', integerReply(client.id)],
      ['mode', textReply('standalone')],
      ['role', textReply('master')],
      ['modules', arrayReply([])],
      ['device', textReply(ports.about.device)],
    ],
  };
}

/** AUTH id secret, or AUTH id.secret for clients that send no user name or the name `default`. */
function auth(call: RedisCall): RespReply {
  if (call.args.length > 2) throw syntaxError();
  showToken(call, call.args);
  return okReply;
}

/**
 * A wrong token also discards the credential shown before. Redis would keep that, which is more
 * surprising.
 */
function showToken({ client, ports }: RedisCall, args: RespRequest): void {
  if (!ports.guard.demands) throw noPassword();
  const [id, secret = ''] = args.map(textOf);
  const token =
    (id === 'default' ? parseToken(secret) : null) ?? parseToken(args.map(textOf).join('.'));
  const { socket } = client.credential;
  client.credential = credentialFrom(client.address, token ?? 'unreadable', socket);
  ports.guard.require(client.credential, [anyToken]);
}

function noPassword(): RedisRefusal {
  const what = 'AUTH <password> called without any password configured for the default user.';
  return new RedisRefusal(`ERR ${what} Are you sure your configuration is correct?`);
}

function setName({ client }: RedisCall, word: Uint8Array | undefined): void {
  const name = textOf(word);
  if (!/^[!-~]*$/.test(name) || name.length > redisClientNameCharactersMax) {
    const what = 'Client names cannot contain spaces, newlines or special characters';
    throw new RedisRefusal(`ERR ${what}, and have at most ${redisClientNameCharactersMax}.`);
  }
  client.name = name;
}

function clientCommand(call: RedisCall): RespReply {
  const { client, args } = call;
  switch (lowerOf(args[0])) {
    case 'id':
      return integerReply(client.id);
    case 'getname':
      return client.name === '' ? nullReply : textReply(client.name);
    case 'setname':
      setName(call, args[1]);
      return okReply;
    case 'info':
      return textReply(
        `id=${client.id} addr=${client.address} name=${client.name} resp=${client.protocol}\n`,
      );
    case 'setinfo':
    case 'no-evict':
    case 'no-touch':
      return okReply;
    default:
      throw unknownSubcommand('client', args[0]);
  }
}

/**
 * SELECT 0 is the default keyspace; SELECT name is the ring of that name. A name that is refused
 * stays selected: a client that ignores the refusal would write into another keyspace, and the ring
 * may arrive later.
 */
function select(call: RedisCall): RespReply {
  // Names of rings are shorter.
  const name = textOf(call.args[0]).slice(0, 64);
  call.client.keyspace = name === '0' ? null : name;
  if (name === '0') return okReply;
  if (mayKnow(call, name) && call.ports.coordinator.rings.find(name) !== undefined) return okReply;
  // As Redis begins it.
  const numbered = 'ERR DB index is out of range: 0 is the only one, SELECT takes names of rings';
  throw new RedisRefusal(/^-?\d+$/.test(name) ? numbered : `ERR no ring '${name}' is here`);
}

/**
 * RINGWRIGHT.CONSISTENCY one|quorum|all|linearizable; without a level it returns the present one.
 */
function consistency({ client, args }: RedisCall): RespReply {
  if (args.length > 1) throw syntaxError();
  if (args[0] === undefined) return textReply(client.consistency);
  client.consistency = parseConsistency(lowerOf(args[0]));
  return okReply;
}

const keyless = { keys: 'none', effect: 'none' } as const;

export const connectionCommands: Readonly<Record<string, RedisCommand>> = {
  ping: { arity: -1, ...keyless, run: ping },
  echo: { arity: 2, ...keyless, run: echo },
  hello: { arity: -1, ...keyless, needs: 'nothing', run: hello },
  auth: { arity: -2, ...keyless, needs: 'nothing', run: auth },
  select: { arity: 2, ...keyless, run: select },
  client: { arity: -2, ...keyless, run: clientCommand },
  quit: { arity: -1, ...keyless, needs: 'nothing', run: () => okReply },
  'ringwright.consistency': { arity: -1, ...keyless, run: consistency },
};
