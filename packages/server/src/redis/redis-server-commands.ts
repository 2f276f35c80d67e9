// Commands about the server: INFO, CONFIG GET, DBSIZE and SCAN.
import { coordinateCount } from '../coordinate/coordinate-count.ts';
import { checkPattern, globMatcher } from './glob.ts';
import { lowerOf, textOf, unknownSubcommand } from './redis-args.ts';
import {
  currentKeyspace,
  mayKnow,
  type RedisCall,
  type RedisCommand,
  RedisRefusal,
} from './redis-command.ts';
import { scan } from './redis-scan.ts';
import { integerReply, type RespReply, textReply } from './resp-reply.ts';

/** The Redis release whose commands are supported: clients choose by it what they send. */
export const redisVersion = '7.0.0';

/** Settings that redis-benchmark and libraries ask for, with the values that are true here. */
const settings: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  save: '',
  databases: '1',
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
};

function config({ args }: RedisCall): RespReply {
  const verb = lowerOf(args[0]);
  if (verb !== 'get') throw unknownSubcommand('config', args[0]);
  const patterns = args.slice(1);
  checkPattern(patterns.reduce((bytes, { length }) => bytes + length, 0));
  const matchers = patterns.map((word) => globMatcher(Buffer.from(lowerOf(word))));
  const names = Object.keys(settings).filter((name) =>
    matchers.some((matches) => matches(Buffer.from(name))),
  );
  return { kind: 'map', pairs: names.map((name) => [name, textReply(settings[name] ?? '')]) };
}

function info(call: RedisCall): RespReply {
  const names = call.args.map((word) => textOf(word).toLowerCase());
  const all = names.length === 0 || names.some((name) => /^(default|all|everything)$/.test(name));
  const sections = infoSections(call).filter(([name]) => all || names.includes(name.toLowerCase()));
  const texts = sections.map(
    ([name, fields]) =>
      `# ${name}\r\n${fields.map(([field, value]) => `${field}:${value}\r\n`).join('')}`,
  );
  return textReply(texts.join('\r\n'));
}

type Section = readonly [name: string, fields: readonly (readonly [string, string | number])[]];

function infoSections({ ports, client }: RedisCall): Section[] {
  const { about, coordinator } = ports;
  const uptimeS = Math.floor(about.uptimeMs() / 1000);
  const allRings = coordinator.rings.list().map(({ ring }) => ring);
  const rings = allRings.filter(({ keyspace }) => mayKnow({ ports, client }, keyspace));
  return [
    [
      'Server',
      [
        ['redis_version', redisVersion],
        ['redis_mode', 'standalone'],
        ['ringwright_device', about.device],
        ['ringwright_consistency', client.consistency],
        ['tcp_port', about.port],
        ['uptime_in_seconds', uptimeS],
      ],
    ],
    ['Clients', [['connected_clients', about.connections()]]],
    ['Memory', [['used_memory', process.memoryUsage.rss()]]],
    [
      'Persistence',
      [
        ['loading', 0],
        ['aof_enabled', 1],
      ],
    ],
    ['Stats', [['total_commands_processed', about.commands()]]],
    ['Replication', [['role', 'master']]],
    ['Cluster', [['cluster_enabled', 0]]],
    [
      'Ringwright',
      rings.map(({ keyspace, version }) => [`ring_${keyspace}`, `version=${version}`]),
    ],
  ];
}

async function dbsize(call: RedisCall): Promise<RespReply> {
  return integerReply(await coordinateCount(call.ports.coordinator, currentKeyspace(call)));
}

function refuseWrites(): RespReply {
  throw new RedisRefusal('ERR no command deletes a whole keyspace: SCAN it, and DEL its keys');
}

const keyless = { keys: 'none', effect: 'none' } as const;

export const serverCommands: Readonly<Record<string, RedisCommand>> = {
  config: { arity: -2, ...keyless, run: config },
  info: { arity: -1, ...keyless, run: info },
  dbsize: { arity: 1, ...keyless, needs: 'keyspace', run: dbsize },
  scan: { arity: -2, ...keyless, needs: 'keyspace', run: scan },
  flushall: { arity: -1, ...keyless, run: refuseWrites },
  flushdb: { arity: -1, ...keyless, run: refuseWrites },
};
